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
import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from ..arguments import split_name
from ..evaluation.analysis import analyze
from ..evaluation.training import read_shown_trainings
from ..evaluation.translated_files import name_runs
from ..report import page
from ..report.attachments import SENTENCE, Attachment, Figure, find_numbers, read_attachment
from ..runs.folder import seed_folders, seed_of
from ..runs.outcomes import read_versions, summarize_versions
from ..text_files import check_output_files, write_text
from .analyze import add_input_arguments, list_inputs, read_input

#: Section of heat maps.
ALIGNMENTS = "Alignments"


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
    parser.add_argument("--out", required=True, help="the HTML file")


def run(options: argparse.Namespace) -> None:
    """Writes the page."""
    named = [split_figure(options.parser, value) for value in options.figure]
    drawn = [file for _, _, path in named for file in (path, find_numbers(path)) if file]
    check_output_files([*list_inputs(options), *drawn], [options.out])
    given = read_input(options)
    # As in the run folders, whichever system is the baseline.
    trained = sorted((system for system in given["systems"] if system.folder), key=lambda system: system.folder)
    versions = {
        system.name: read_versions(system.folder, seeds=map(seed_of, seed_folders(system.folder))) for system in trained
    }
    only = [system.name for system in given["systems"]] if options.only else None
    places = [f"{name}/" for name in name_runs(options.run)] if len(options.run) > 1 else [""]
    figures = [one for run, place in zip(options.run, places) for one in read_run_figures(Path(run), place, only=only)]
    report = page.Report(
        analysis=analyze(**given),
        title=options.title or make_title(options.run),
        trained_with=summarize_versions(versions),
        training=read_shown_trainings(trained),
        attachments=[*figures, *(read_attachment(*one) for one in named)],
    )
    write_text(options.out, page.render_page(report))
    systems, sentences = len(report.analysis.systems), len(report.analysis.test_set)
    print(f"{options.out}: {count(systems, 'system')}, {count(sentences, 'sentence')}")


def count(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'s' * (number != 1)}"


def make_title(runs: list[str]) -> str:
    """Joins the names of the run folders to a title."""
    names = ", ".join(name_runs(runs))
    return f"Translation report: {names}" if names else "Translation report"


def read_run_figures(run: Path, place: str = "", *, only: Collection[str] | None = None) -> Iterator[Attachment]:
    """What a recipe has drawn and counted for a run folder; of each system first the numbers, then the drawings.

    Args:
        run: the folder.
        place: what is in front of titles where the report is on several runs.
        only: systems whose figures are wanted, without those of beams, which have all of them; None for everything.
    """
    for section, numbers in {ALIGNMENTS: "summary.txt", "Structure": "scores.txt"}.items():
        for system in sorted((run / "figures" / section.lower()).glob("*")):
            if only is not None and not {system.name, f"{place}{system.name}"} & set(only):
                continue
            for file in (system / numbers, *sorted(system.glob("*.svg"), key=place_of)):
                if file.is_file():
                    name = f"{place}{system.name}"
                    yield name_reference(read_attachment(section, name, file, name), file)
    for file in (run / "beams" / "beams.txt", run / "beams" / "beams.svg"):
        if only is None and file.is_file():
            yield read_attachment("Beams", f"{place}BLEU, length and speed by beam", file)


def name_reference(attachment: Attachment, file: Path) -> Attachment:
    """The attachment, a recipe's heat map of a reference named as such: beside it is that of the output."""
    if not isinstance(attachment, Figure) or attachment.section != ALIGNMENTS or not SENTENCE.fullmatch(file.stem):
        return attachment
    is_output = attachment.title.endswith("output")
    return attachment if is_output else replace(attachment, title=f"{attachment.title}, reference")


def place_of(figure: Path) -> tuple[float, str]:
    """What a run's figures are sorted by: those of sentences by their numbers, then all others by their names."""
    match = SENTENCE.fullmatch(figure.stem)
    return int(match[2]) if match else math.inf, figure.name


def split_figure(parser: argparse.ArgumentParser, value: str) -> tuple[str, str, Path]:
    """``SECTION[: TITLE]=FILE`` in three, see `split_name`; without a title, the file's name without its ending."""
    heading, file = split_name(value)
    section, _, title = heading.partition(": ")
    if not (section and file):
        parser.error(f"--figure must be SECTION[: TITLE]=FILE, not '{value}'")
    path = Path(file)
    return section, title or path.stem, path
