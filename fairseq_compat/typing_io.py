"""Gives back ``typing.io``, which Python 3.13 removed, to antlr4 4.8 and to the grammars of hydra 1.0.7.

Both import one name from it, ``TextIO``, which is in ``typing`` itself.
"""

import sys
import types
import typing


def repair(_antlr4):
    """Register a module ``typing.io`` that holds what the old one held."""
    if sys.version_info < (3, 13):
        return
    module = types.ModuleType("typing.io", "Wrapper around the input and output classes of typing.")
    module.IO, module.TextIO, module.BinaryIO = typing.IO, typing.TextIO, typing.BinaryIO
    sys.modules.setdefault(module.__name__, module)
