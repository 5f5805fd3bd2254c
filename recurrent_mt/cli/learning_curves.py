"""Draws validation loss against updates from logs of fairseq-train, and prints it as a table.

Each system is one line, the mean of its seeds; the band around it reaches from the lowest seed to the highest. A point
needs every seed: trainings that validated at other updates share only some points.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.figures import save_figure
from ..evaluation.learning_curves import draw_learning_curves, learning_curve_table, read_learning_curves
from ..evaluation.tables import tables_as_text
from .arguments import split_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=LOG[,LOG]",
        help="train.log of each seed, written with --log-format json",
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only validations at multiples of N updates")
    parser.add_argument("--out", required=True, type=Path, help="the figure: a name that ends in .svg, .png, or .pdf")


def run(options: argparse.Namespace) -> None:
    """Prints the table and saves the figure."""
    if options.every < 1:
        options.parser.error(f"--every must be at least 1, not {options.every}")
    curves = {}
    for name, logs in split_named(options.parser, options.system, "NAME=LOG[,LOG]"):
        curves[name] = read_learning_curves(logs.split(","), every=options.every)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_figure(draw_learning_curves(curves), options.out)
    print(tables_as_text([learning_curve_table(curves)]), end="")
