"""Lets hydra 1.0.7 print the error that stopped a program.

It calls ``traceback.print_exception(etype=…)``; Python 3.10 removed that argument, so the user saw a TypeError from
hydra instead of the real message.
"""

import sys
import traceback


def repair(hydra_utils):
    """Give ``hydra._internal.utils`` a ``print_exception`` that still takes ``etype``."""
    if sys.version_info < (3, 10):
        return

    def print_exception(etype=None, value=None, tb=None):
        traceback.print_exception(etype or type(value), value, tb)

    hydra_utils.print_exception = print_exception
