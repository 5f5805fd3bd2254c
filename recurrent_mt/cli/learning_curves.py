"""Draws validation loss against updates from logs of fairseq-train, and prints it as a table.

Each system is one line, the mean of its seeds; the band around it reaches from the lowest seed to the highest. A
point needs every seed: trainings that validated at other updates share only some points.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import split_files, split_named
from ..evaluation.figures import save_figure
from ..evaluation.tables import tables_as_text
from ..evaluation.training import draw_learning_curves, learning_curve_table, read_learning_curves
from ..text_files import check_output_files


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=LOG[,LOG]",
        help="the log of each seed's fairseq-train",
    )
    parser.add_argument("--out", required=True, type=Path, help="the figure: a name that ends in .svg, .png, or .pdf")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and draws the curves into the file."""
    named = [(name, split_files(logs)) for name, logs in split_named(options.parser, options.system, "NAME=LOG[,LOG]")]
    check_output_files([log for _, logs in named for log in logs], [options.out])
    curves = {name: read_learning_curves(logs) for name, logs in named}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_figure(draw_learning_curves(curves), options.out)
    print(tables_as_text([learning_curve_table(curves)]), end="")
