"""Draws validation loss against updates from logs of fairseq-train, and prints it as a table.

Each system is one line, the mean of its seeds; the band around it reaches from the lowest seed to the highest. A
point needs every seed: trainings that validated at other updates share only some points. With --updates-per-hour,
the figure has hours instead: what each system has learned after as much time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import positive, split_files, split_named
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
    parser.add_argument(
        "--updates-per-hour",
        action="append",
        default=[],
        metavar="NAME=N",
        help="updates that a system makes in an hour, for each system: draws against hours",
    )
    parser.add_argument("--out", required=True, type=Path, help="the figure: a name that ends in .svg, .png, or .pdf")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and draws the curves into the file."""
    named = [(name, split_files(logs)) for name, logs in split_named(options.parser, options.system, "NAME=LOG[,LOG]")]
    check_output_files([log for _, logs in named for log in logs], [options.out])
    curves = {name: read_learning_curves(logs) for name, logs in named}
    speeds = read_speeds(options, list(curves))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_figure(draw_learning_curves(curves, speeds), options.out)
    print(tables_as_text([learning_curve_table(curves)]), end="")


def read_speeds(options: argparse.Namespace, names: list[str]) -> dict[str, int]:
    """What ``--updates-per-hour`` says; ends the tool with a message if that is not a number for each system."""
    option = "--updates-per-hour"
    pairs = split_named(options.parser, options.updates_per_hour, "NAME=N", option)
    try:
        speeds = {name: positive(number) for name, number in pairs}
    except argparse.ArgumentTypeError as error:
        options.parser.error(f"{option}: {error}")
    if speeds and set(speeds) != set(names):
        options.parser.error(f"{option} must name every --system: {', '.join(names)}, not {', '.join(speeds)}")
    return speeds
