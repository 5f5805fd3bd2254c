"""Writes why a step of an experiment failed, by its log and status: the steps that do not need it go on.

A step that was stopped from outside, or by a full disk, has no outcome: this command then ends with its status.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..runs.outcomes import judge, was_interrupted


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file to write")
    parser.add_argument("--log", type=Path, required=True, help="log of the step")
    parser.add_argument("--status", type=int, required=True, help="status that it ended with")


def run(options: argparse.Namespace) -> int:
    """Writes the outcome, or returns the status of a step that has none."""
    if was_interrupted(options.log, options.status):
        return int(options.status)
    judge(options.log, options.status).write(options.file)
    return 0
