r"""Makes one HTML file from a comparison: who is ahead, of what, tables, charts, figures, and a sentence browser.

It needs no network. Tables can be saved as LaTeX and CSV.

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
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ..arguments import split_name
from ..evaluation.analysis import analyze
from ..evaluation.training import read_shown_curves, read_shown_trainings
from ..evaluation.translated_files import name_runs
from ..report import page
from ..report.attachments import SENTENCE, Attachment, read_attachment
from ..runs.folder import RunFolder, seed_folders, seed_of
from ..runs.outcomes import read_versions, summarize_versions
from ..text_files import check_output_files, stream_sentences, write_text
from ..versions import describe_versions
from .analyze import add_input_arguments, list_inputs, read_input

#: What the parts of a corpus are for.
PURPOSES = {"train": "train on", "valid": "choose checkpoints by", "test": "test on"}
#: Options that the page tells elsewhere.
TOLD = ("SOURCE_LANG", "TARGET_LANG", "CORPUS", "SYSTEMS", "SEEDS")


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
    check_output_files([*list_inputs(options), *(path for _, _, path in named)], [options.out])
    given = read_input(options)
    # As in the run folders, whichever system is the baseline.
    trained = sorted((system for system in given["systems"] if system.folder), key=lambda system: system.folder)
    versions = {
        system.name: read_versions(system.folder, seeds=map(seed_of, seed_folders(system.folder))) for system in trained
    }
    names = [system.name for system in given["systems"]]
    places = [f"{name}/" for name in name_runs(options.run)] if len(options.run) > 1 else [""]
    figures = [
        one
        for run, place in zip(options.run, places)
        for one in read_run_figures(Path(run), place, names=names, only=bool(options.only))
    ]
    facts = {"Trained with": summarize_versions(versions)} if versions else {}
    facts |= {"This page": f"{datetime.now(UTC):%Y-%m-%d}, {describe_versions()}", "Command": options.command_line}
    report = page.Report(
        analysis=analyze(**given),
        title=options.title or ": ".join(filter(None, ["Translation report", ", ".join(name_runs(options.run))])),
        facts={**describe_runs(options.run, places), **facts},
        training=read_shown_trainings(trained),
        curves=read_shown_curves(given["systems"]),
        attachments=[*figures, *(read_attachment(*one) for one in named)],
    )
    write_text(options.out, page.render_page(report))
    systems, sentences = len(report.analysis.systems), len(report.analysis.test_set)
    print(f"{options.out}: {count(systems, 'system')}, {count(sentences, 'sentence')}")


def count(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'s' * (number != 1)}"


def describe_runs(runs: Sequence[str], places: Sequence[str]) -> dict[str, str]:
    """The corpora and the settings of experiments, each with the run's place in front of what it is."""
    facts = {}
    for path, place in zip(runs, places):
        run = RunFolder(path)
        options = run.options
        sizes = [
            f"{sum(1 for _ in stream_sentences(file)):,} sentence pairs to {purpose}"
            for split, purpose in PURPOSES.items()
            if (file := run.text("prepared", split)[1]).is_file()
        ]
        parts = [" to ".join(run.languages), options.get("CORPUS", ""), *sizes]
        facts[f"{place}Corpus"] = "; ".join(filter(None, parts))
        settings = {name.lower(): value for name, value in options.items() if name not in TOLD and value != "False"}
        facts[f"{place}Settings"] = " ".join(f"{name}={value}" for name, value in settings.items())
    return facts


def read_run_figures(
    run: Path, place: str = "", *, names: Sequence[str] = (), only: bool = False
) -> Iterator[Attachment]:
    """What a recipe has drawn and counted for a run folder; of each system first the numbers, then the drawings.

    Args:
        run: the folder.
        place: what is in front of titles where the report is on several runs.
        names: of the report's systems, whose order is that of their figures; others come last.
        only: whether others are left out, and so the figures of beams, which have all systems.
    """

    def find_place(system: Path) -> int:
        return next((names.index(name) for name in (system.name, f"{place}{system.name}") if name in names), len(names))

    for section, numbers in {"Alignments": "summary.txt", "Structure": "scores.txt"}.items():
        for system in sorted(sorted((run / "figures" / section.lower()).glob("*")), key=find_place):
            if only and find_place(system) == len(names):
                continue
            for file in (system / numbers, *sorted(system.glob("*.svg"), key=place_of)):
                if file.is_file():
                    yield read_attachment(section, f"{place}{system.name}", file)
    for file in (run / "beams" / "beams.txt", run / "beams" / "beams.svg"):
        if not only and file.is_file():
            yield read_attachment("Beams", f"{place}BLEU, length and speed by beam", file)


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
