"""Makes the repairs of a module as part of its import."""

import importlib
import os

from . import MODULES, NEEDED
from .replacements import CHANGES


def add_repair(spec):
    """Return `spec` with a loader that also repairs the module; return None, or a spec without code, unchanged."""
    if spec is not None and hasattr(spec.loader, "exec_module"):
        spec.loader = RepairLoader(spec.loader)
    return spec


def repair(module):
    """Make what its files declare for a module that has been executed."""
    minimal = os.environ.get("FAIRSEQ_COMPAT") == "minimal"
    for file in MODULES[module.__name__]:
        if file in NEEDED or not minimal:
            importlib.import_module(f".{file}", __package__)
    for change in CHANGES.get(module.__name__, ()):
        change(module)


class RepairLoader:
    """Takes the place of a module's own loader until the module is executed; that loader does all else."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def exec_module(self, module):
        """Give the module its own loader back, execute it, and repair it."""
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        repair(module)
