"""Writes the table and the figure of an experiment's `beams`: BLEU, length, and speed by beam."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import split_named
from ..evaluation.beams import beam_figure, beam_table, read_beams
from ..evaluation.figures import save_figure
from ..evaluation.tables import Record, make_frame, tables_as_text, write_results
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
