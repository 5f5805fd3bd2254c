#!/usr/bin/env python3
r"""Makes one HTML file of a comparison: tables, charts, figures and a browser of all sentences; it needs no network.

    python scripts/report.py runs/quickstart-fr-en --out report.html

Output of anything else, one sentence a line; several files of one system are its seeds:

    python scripts/report.py --source test.fr --reference test.en --target-lang en \\
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out report.html

Figures (*.svg) and printed tables (*.txt) of scripts/alignments.py and scripts/structure.py get sections of their own:

    python scripts/report.py RUN --out report.html --figure "Alignments: sentence 3=alignments/sentence-3.svg"
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.command_line import add_input_arguments, read_input
from recurrent_mt.evaluation.training import read_run_trainings
from recurrent_mt.report.page import render_page
from recurrent_mt.report.report import LISTED_SENTENCES, Figure, Printout, Report
from recurrent_mt.text_files import write_text


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_input_arguments(parser)
    parser.add_argument("--title", help="heading of the page (default: the names of the runs)")
    parser.add_argument(
        "--figure",
        action="append",
        default=[],
        metavar="SECTION[: TITLE]=FILE",
        help="an SVG file, or a printed table (*.txt), to show in a section of that heading; repeatable",
    )
    parser.add_argument(
        "--listed-sentences",
        type=int,
        default=LISTED_SENTENCES,
        metavar="N",
        help="show the n-best lists of the first N sentences, where logs have them (default: %(default)s)",
    )
    parser.add_argument("--out", required=True, help="the HTML file")
    arguments = parser.parse_args()
    if arguments.listed_sentences < 0:
        parser.error(f"--listed-sentences must not be below zero: {arguments.listed_sentences}")
    try:
        figures = [read_figure(parser, value) for value in arguments.figure]
        counted = read_input(parser, arguments)
        report = Report(
            analysis=analyze(**counted),
            title=arguments.title or default_title(arguments.run),
            training=read_run_trainings(arguments.run),
            figures=figures,
            listed_sentences=arguments.listed_sentences,
        )
        Path(arguments.out).parent.mkdir(parents=True, exist_ok=True)
        write_text(arguments.out, render_page(report))
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    print(f"{arguments.out}: {len(report.systems)} systems, {len(report.analysis.test_set)} sentences")


def default_title(runs: list[str]) -> str:
    """The names of the run folders."""
    names = ", ".join(Path(run).resolve().name for run in runs)
    return f"Translation report: {names}" if names else "Translation report"


def read_figure(parser: argparse.ArgumentParser, value: str) -> Figure | Printout:
    """``SECTION[: TITLE]=FILE``; without a title, the file's name without its ending."""
    heading, equals, file = value.rpartition("=")
    section, _, title = heading.partition(": ")
    if not (section and equals and file):
        parser.error(f"--figure must be SECTION[: TITLE]=FILE, not '{value}'")
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".txt":
            return Printout(section, title or path.stem, text)
        return Figure(section, title or path.stem, "", text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: a figure must be an SVG file or a text file") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


if __name__ == "__main__":
    main()
