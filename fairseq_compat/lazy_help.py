"""Lets ``fairseq-hydra-train`` start on Python 3.14.

Since then, ``argparse`` looks into the help of every option as soon as it is added. That of hydra's option
``--shell-completion`` is no text but an object that writes one when it is shown: "badly formed help string".
"""

import argparse

from .replacements import ModuleView, after_import


@after_import("hydra._internal.utils")
def leave_help_alone(hydra_utils):
    """Let hydra's parser leave help alone that is no text yet, if this Python looks into it."""
    if not hasattr(argparse.ArgumentParser, "_check_help"):
        return

    class ParserWithLazyHelp(argparse.ArgumentParser):
        def _check_help(self, action):
            if isinstance(action.help, str):
                super()._check_help(action)  # type: ignore[misc]

    hydra_utils.argparse = ModuleView(argparse, ArgumentParser=ParserWithLazyHelp)
