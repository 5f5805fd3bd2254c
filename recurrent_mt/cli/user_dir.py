"""Prints the plug-in's folder, for --user-dir of the fairseq commands."""

from __future__ import annotations

import argparse

from .plugin import find_plugin


def configure(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(options: argparse.Namespace) -> None:
    """Prints the folder."""
    print(find_plugin())
