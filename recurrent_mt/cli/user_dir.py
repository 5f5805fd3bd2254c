"""Prints the plug-in's folder, for --user-dir of the fairseq commands."""

from __future__ import annotations

import argparse

from ..plugin_finder import find_plugin


def configure(parser: argparse.ArgumentParser) -> None: ...


def run(options: argparse.Namespace) -> None:
    """Prints the folder."""
    print(find_plugin())
