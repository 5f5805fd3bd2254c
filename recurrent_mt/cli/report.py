r"""Makes one HTML file from a comparison: tables, charts, figures, and a sentence browser. It needs no network.

    recurrent-mt report runs/quickstart-fr-en --out report.html

For any other output, one sentence per line; several files for one system are its seeds:

    recurrent-mt report --source test.fr --reference test.en --target-lang en \
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out report.html

Figures (*.svg) and numbers (*.txt, with the *.json beside them) of recurrent-mt align, structure and beams get sections
of their own. Those that a recipe has left in a run folder are shown with it; others are named:

    recurrent-mt report RUN --out report.html --figure "Alignments: sentence 3=alignments/sentence-3.svg"
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ..evaluation.analysis import analyze
from ..evaluation.training import read_run_trainings
from ..report.attachments import Attachment, read_attachment
from ..report.page import LISTED_SENTENCES, Report, render_page
from ..text_files import write_text
from .analyze import add_input_arguments, read_input


def configure(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument("--title", help="heading of the page (default: the names of the runs)")
    parser.add_argument(
        "--figure",
        action="append",
        default=[],
        metavar="SECTION[: TITLE]=FILE",
        help="an SVG file, or numbers (*.txt), to show in a section of that heading; repeatable",
    )
    parser.add_argument(
        "--listed-sentences",
        type=int,
        default=LISTED_SENTENCES,
        metavar="N",
        help="show the n-best lists of the first N sentences, if logs have them (default: %(default)s)",
    )
    parser.add_argument("--out", required=True, help="the HTML file")


def run(options: argparse.Namespace) -> None:
    """Writes the page."""
    if options.listed_sentences < 0:
        options.parser.error(f"--listed-sentences must not be negative: {options.listed_sentences}")
    attachments = [one for run in options.run for one in read_run_figures(Path(run), several=len(options.run) > 1)]
    attachments += [read_figure(options.parser, value) for value in options.figure]
    report = Report(
        analysis=analyze(**read_input(options)),
        title=options.title or make_title(options.run),
        training=read_run_trainings(options.run),
        attachments=attachments,
        listed_sentences=options.listed_sentences,
    )
    write_text(options.out, render_page(report))
    print(f"{options.out}: {len(report.analysis.systems)} systems, {len(report.analysis.test_set)} sentences")


def make_title(runs: list[str]) -> str:
    """Joins the names of the run folders to a title."""
    names = ", ".join(Path(run).resolve().name for run in runs)
    return f"Translation report: {names}" if names else "Translation report"


def read_run_figures(run: Path, *, several: bool) -> Iterator[Attachment]:
    """What a recipe has drawn and counted for a run folder; of each system first the numbers, then the drawings.

    Args:
        run: the folder.
        several: whether the report is on more runs, so that titles need the name of each.
    """
    place = f"{run.resolve().name}/" if several else ""
    for section, numbers in {"Alignments": "summary.txt", "Structure": "scores.txt"}.items():
        for system in sorted((run / "figures" / section.lower()).glob("*")):
            for file in (system / numbers, *sorted(system.glob("*.svg"))):
                if file.is_file():
                    yield read_attachment(section, f"{place}{system.name}", file)
    for file in (run / "beams" / "beams.txt", run / "beams" / "beams.svg"):
        if file.is_file():
            yield read_attachment("Beams", f"{place}BLEU, length and speed by beam", file)


def read_figure(parser: argparse.ArgumentParser, value: str) -> Attachment:
    """``SECTION[: TITLE]=FILE``; without a title, the file's name without its ending."""
    heading, equals, file = value.rpartition("=")
    section, _, title = heading.partition(": ")
    if not (section and equals and file):
        parser.error(f"--figure must be SECTION[: TITLE]=FILE, not '{value}'")
    path = Path(file)
    return read_attachment(section, title or path.stem, path)
