"""Compiles the kernels in C++ for this environment's PyTorch. With them, models train in six tenths of the time.

Needs a C++ compiler (on Debian and Ubuntu: the package build-essential), and takes some four minutes. scripts/setup.sh
has done it already. After an installation by pip, and after a new version of PyTorch, call it once.
"""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace) -> None:
    """Prints the library's path."""
    from ..kernels.native.build import build

    print(build())
