"""Lets hydra 1.0.7 find its plug-ins, without which it cannot compose a configuration.

It asks each path finder for ``find_module``, which Python 3.12 removed in favor of ``find_spec``.
"""

import pkgutil
import sys
import types


def repair(plugins):
    """Let the package walk of ``hydra.core.plugins`` yield finders that have ``find_module``."""
    if sys.version_info >= (3, 12):
        plugins.pkgutil = types.SimpleNamespace(walk_packages=_walk_packages)


def _walk_packages(path=None, prefix="", onerror=None):
    for finder, name, is_package in pkgutil.walk_packages(path, prefix, onerror):
        yield _FinderWithFindModule(finder), name, is_package


class _FinderWithFindModule:
    """A path finder with the old method."""

    def __init__(self, finder):
        self._finder = finder

    def find_module(self, name):
        return self._finder.find_spec(name).loader
