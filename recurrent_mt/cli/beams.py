"""Writes the table and the figure of an experiment's `beams`: BLEU, length, and speed by beam."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import positive, split_files, split_named
from ..evaluation.beams import beam_figure, beam_table, read_beams
from ..evaluation.figures import save_figure
from ..evaluation.tables import Record, make_frame, tables_as_text, write_results
from ..evaluation.training import draw_learning_curves, learning_curve_table, read_learning_curves
from ..metrics import SentenceStatistics, sign_systems
from ..text_files import check_output_files, read_sentences


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--system", action="append", required=True, metavar="NAME=FOLDER", help="folder with beam-N.log files"
    )
    parser.add_argument(
        "--searches",
        type=lambda text: text.split(","),
        default=[],
        metavar="NAME[,NAME...]",
        help="logs to read of each folder, such as beam-5,beam-5-unnormalized (all with translations)",
    )
    parser.add_argument("--reference", required=True, help="raw reference, one sentence per line")
    parser.add_argument("--target-lang", required=True, help="chooses BLEU's tokenization")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--out", required=True, help="folder for beams.txt, .md, .json, and .svg")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and writes it and the figure to the folder."""
    out = Path(options.out)
    check_output_files([], [out / "beams.txt"])
    references = read_sentences(options.reference)
    records: list[Record] = []
    counts: list[SentenceStatistics] = []
    for name, folder in split_named(options.parser, options.system, "NAME=FOLDER"):
        found, counted = read_beams(name, folder, references, options.target_lang, options.lowercase, options.searches)
        records, counts = [*records, *found], [*counts, *counted]
    frame = make_frame(records)
    tables = [beam_table(frame, sign_systems(counts))]
    write_results(out / "beams", tables, frame)
    save_figure(beam_figure(frame), out / "beams.svg")
    print(tables_as_text(tables), end="")


class LearningCurves:
    """Draws validation loss against updates from logs of fairseq-train, and prints it as a table.

    Each system is one line, the mean of its seeds; the band around it reaches from the lowest seed to the highest. A
    point needs every seed: trainings that validated at other updates share only some points. With --updates-per-hour,
    the figure has hours instead: what each system has learned after as much time.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--system",
            action="append",
            required=True,
            metavar="NAME=LOG[,LOG]",
            help="the log of each seed's fairseq-train",
        )
        parser.add_argument(
            "--every", type=positive, default=1, metavar="N", help="only validations at multiples of N updates"
        )
        parser.add_argument(
            "--updates-per-hour",
            action="append",
            default=[],
            metavar="NAME=N",
            help="updates that a system makes in an hour, for each system: draws against hours",
        )
        parser.add_argument(
            "--out", required=True, type=Path, help="the figure: a name that ends in .svg, .png, or .pdf"
        )

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        named = [
            (name, split_files(logs)) for name, logs in split_named(options.parser, options.system, "NAME=LOG[,LOG]")
        ]
        check_output_files([log for _, logs in named for log in logs], [options.out])
        curves = {name: read_learning_curves(logs, every=options.every) for name, logs in named}
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
