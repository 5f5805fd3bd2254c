r"""Shows where translation breaks: scores by sentence length, by unknown words, by word frequency, with intervals.

The recipes' run folders know their test set, systems, seeds, and dictionaries:

    recurrent-mt analyze runs/quickstart-fr-en --out analysis

For any other output, one sentence per line; several files for one system are its seeds:

    recurrent-mt analyze --source test.fr --reference test.en --target-lang en \
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out analysis
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..arguments import (
    add_jobs_argument,
    make_settings,
    natural,
    positive,
    split_files,
    split_name,
    split_named,
    whole_numbers,
)
from ..evaluation.analysis import Settings, analyze
from ..evaluation.plots import name_earlier_plots, write_plots
from ..evaluation.tables import escape_markdown, tables_as_text
from ..evaluation.training import read_run_trainings, read_run_versions
from ..evaluation.translated_files import (
    System,
    TestSet,
    UnknownWords,
    choose_baseline,
    name_runs,
    read_references,
    read_runs,
    read_system,
    read_test_set,
    read_translations,
    read_unknown_words,
)
from ..metrics import METRICS
from ..report import page
from ..report.attachments import SENTENCE, Attachment, Figure, find_numbers, read_attachment
from ..runs.folder import REPORTED, RunFolder
from ..runs.outcomes import summarize_versions
from ..subwords import warn_of_subwords
from ..text_files import check_output_files, read_sentences, require_same_count, stream_sentences, write_text

#: The options that name a file each, and all that run folders have no use for.
PLAIN_FILES = (
    *("source", "training_text"),
    *("source_dictionary", "target_dictionary", "source_tokens", "reference_tokens"),
)
FILE_OPTIONS = (*PLAIN_FILES, "reference", "source_lang", "target_lang", "lowercase")
#: So many sentences of the training text show what its words are.
FIRST_SENTENCES = 1000
#: Names of systems may have a comma within them, as in ``lstm, <unk> forbidden``.
BETWEEN_NAMES = ",(?! )"
#: Section of heat maps.
ALIGNMENTS = "Alignments"
SYSTEM_FORM = "NAME=FILE[,FILE]"


def configure(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument("--out", required=True, help="folder for analysis.txt, .md, .json, and the plots")


def run(options: argparse.Namespace) -> None:
    """Prints the analysis, and writes it and its plots to the folder."""
    folder = Path(options.out)
    check_output_files([], [folder / "analysis.txt"])
    analysis = analyze(**read_input(options))
    earlier = name_earlier_plots(folder / "analysis.json")
    analysis.write(folder / "analysis")
    write_plots(analysis, folder, earlier)
    print(tables_as_text(analysis.list_tables()), end="")


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that `read_input` reads."""
    parser.add_argument("run", nargs="*", help="run folder of scripts/quickstart.sh or scripts/compare_baselines.sh")
    files = parser.add_argument_group("instead of run folders, files with one sentence per line")
    files.add_argument("--source", metavar="FILE", help="raw sources")
    add_reference_argument(files)
    files.add_argument(
        "--system",
        action="append",
        default=[],
        metavar=SYSTEM_FORM,
        help="translations, detokenized, or logs of fairseq-generate (*.log); several files count as seeds",
    )
    files.add_argument("--source-lang", default="", help="chooses how words of the source are counted")
    files.add_argument("--target-lang", default="", help="chooses the tokenization of scores and words")
    files.add_argument("--training-text", metavar="FILE", help="target side of the training set: words by frequency")
    files.add_argument("--source-dictionary", metavar="FILE", help="dict.LANG.txt: unknown words of the source")
    files.add_argument("--target-dictionary", metavar="FILE", help="dict.LANG.txt: unknown words of the reference")
    files.add_argument("--source-tokens", metavar="FILE", help="the sources as models read them: words or subwords")
    files.add_argument("--reference-tokens", metavar="FILE", help="the references as models were taught them")
    files.add_argument("--lowercase", action="store_true", help="ignore case")
    what = parser.add_argument_group("what to count")
    add_metrics_argument(what)
    what.add_argument(
        "--detailed",
        type=metric_names,
        metavar="NAME,…",
        help="those of the metrics that are broken down as well (bleu; without it, the first)",
    )
    what.add_argument("--only", metavar="NAME[,NAME]", help="only these systems of the run folder, in this order")
    what.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system others are tested against (default: that of the experiment; else the first system that is one "
        "of lstm, fconv, and transformer; else the first)",
    )
    add_resamples_argument(what)
    what.add_argument("--length-limits", dest="limits", type=whole_numbers, default=Settings.limits, help="10,20,30,…")
    what.add_argument(
        "--most-unknown",
        type=positive,
        default=Settings.most_unknown,
        help="N of the last group, 'N or more unknown words'",
    )
    what.add_argument("--window", type=positive, default=Settings.window, help="width of the smoothing window in words")
    add_jobs_argument(parser)


def add_reference_argument(parser: Any, *, required: bool = False) -> None:
    """Adds ``--reference``, which may be given several times."""
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        required=required,
        metavar="FILE",
        help="raw references, one sentence per line; repeatable: scores are against all, as sacrebleu's, and words and "
        "lengths are counted in the first",
    )


def add_metrics_argument(parser: Any) -> None:
    """Adds ``--metrics`` to a parser or a group of it."""
    parser.add_argument(
        "--metrics",
        type=metric_names,
        default=Settings.metrics,
        metavar="NAME,…",
        help=f"any of {','.join(METRICS)}; meteor needs nltk (default: {','.join(Settings.metrics)})",
    )


def add_resamples_argument(parser: Any) -> None:
    """Adds ``--resamples`` to a parser or a group of it."""
    parser.add_argument(
        "--resamples",
        type=int,
        default=Settings.resamples,
        help="bootstrap resamples of intervals, and trials of the test; 0: neither (%(default)s)",
    )


def read_input(options: argparse.Namespace) -> dict[str, Any]:
    """What `analyze` takes, from the files that the options of `add_input_arguments` name.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if a file is damaged, or does not go with the others.
    """
    if bool(options.run) == bool(options.system):
        options.parser.error("give run folders, or --reference and --system")
    training_text, recorded = None, ""
    if options.run:
        refuse_options(
            options, FILE_OPTIONS, "goes with --system: a run folder has its own text, languages, and casing"
        )
        test_set, systems, training_text = read_runs(options.run)
        if training_text is None:
            print("The runs have different training texts: words are not counted by frequency.", file=sys.stderr)
        recorded = RunFolder(options.run[0]).baseline
    else:
        if not options.reference:
            options.parser.error("--system needs --reference")
        languages = options.source_lang, options.target_lang
        test_set = read_test_set(options.reference, options.source, languages, lowercase=options.lowercase)
        unknown = read_unknown(options, test_set)
        named = split_named(options.parser, options.system, SYSTEM_FORM)
        systems = [
            read_system(name, split_files(files), options.reference[0], test_set, unknown) for name, files in named
        ]
        if options.training_text:
            training_text = stream_sentences(options.training_text)
            first = list(islice(training_text, FIRST_SENTENCES))
            warn_of_subwords(options.training_text, first)
            training_text = chain(first, training_text)
    if others := [name for name in options.detailed or () if name not in options.metrics]:
        options.parser.error(f"--detailed {others[0]}: give it to --metrics, too")
    settings = make_settings(
        *(Settings, options), tokenize=None, fewest=Settings.fewest, paired=Settings.paired, seed=Settings.seed
    )
    if options.only:
        systems = [find_system(systems, name, "--only") for name in re.split(BETWEEN_NAMES, options.only)]
    name = options.baseline or choose_baseline(
        [one.name for one in systems], [one.name_in_run or one.name for one in systems], recorded
    )
    baseline = find_system(systems, name, "--baseline")
    systems = [baseline, *(system for system in systems if system is not baseline)]
    return {"test_set": test_set, "systems": systems, "settings": settings, "training_text": training_text}


def list_inputs(options: argparse.Namespace) -> Iterator[str | Path]:
    """The files that `read_input` may read, and others of a run folder that are shown with them."""
    yield from options.reference
    yield from filter(None, (getattr(options, name) for name in PLAIN_FILES))
    for _, files in split_named(options.parser, options.system, SYSTEM_FORM):
        yield from split_files(files)
    for run in options.run:
        for pattern in REPORTED:
            yield from Path(run).glob(pattern)


def refuse_options(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Ends the tool with a message if one of these options is given, which would have no effect."""
    for name in names:
        if getattr(options, name):
            options.parser.error(f"--{name.replace('_', '-')} {why}")


def read_unknown(options: argparse.Namespace, test_set: TestSet) -> UnknownWords | None:
    """Counts by dictionaries that all systems share; None without them.

    What is unknown is a matter of the tokens that models read, which cannot be told from raw text.
    """
    dictionaries = options.source_dictionary, options.target_dictionary
    files = options.source_tokens, options.reference_tokens
    if not any(dictionaries + files):
        return None
    if not all((*dictionaries, *files, test_set.source)):
        options.parser.error(
            "unknown words need --source, both dictionaries (--source-dictionary, --target-dictionary), and the test "
            "set as models read it (--source-tokens, --reference-tokens)"
        )
    unknown = read_unknown_words(files, dictionaries)
    require_same_count(files[1], unknown.reference, options.reference[0], test_set.reference)
    return unknown


def find_system(systems: Sequence[System], name: str, option: str) -> System:
    """The system of that name.

    Raises:
        ValueError: naming the option and the systems that there are.
    """
    for system in systems:
        if system.name == name:
            return system
    raise ValueError(f"{option} {name}: the systems are {', '.join(system.name for system in systems)}")


def metric_names(text: str) -> list[str]:
    """Reads names of metrics separated by commas."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"unknown metric {name!r}: choose from {', '.join(METRICS)}")
    return names


class Report:
    r"""Makes one HTML file from a comparison: tables, charts, figures, and a sentence browser. It needs no network.

        recurrent-mt report runs/quickstart-fr-en --out report.html

    For any other output, one sentence per line; several files for one system are its seeds:

        recurrent-mt report --source test.fr --reference test.en --target-lang en \
            --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out report.html

    Figures (*.svg) and numbers (*.txt, with the *.json beside them) of recurrent-mt align, structure and beams get sections
    of their own. Those that a recipe has left in a run folder are shown with it; others are named:

        recurrent-mt report RUN --out report.html --figure "Alignments: sentence 3=alignments/sentence-3.svg"
    """  # noqa: E501 (lines of the terminal)

    @staticmethod
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
            type=natural,
            default=page.LISTED_SENTENCES,
            metavar="N",
            help="show the n-best lists of the first N sentences, if logs have them (default: %(default)s)",
        )
        parser.add_argument("--out", required=True, help="the HTML file")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        named = [split_figure(options.parser, value) for value in options.figure]
        drawn = [file for _, _, path in named for file in (path, find_numbers(path)) if file]
        check_output_files([*list_inputs(options), *drawn], [options.out])
        given = read_input(options)
        training, versions, only = read_run_trainings(options.run), read_run_versions(options.run), None
        if options.only:
            only = [system.name for system in given["systems"]]
            training = training[training["system"].isin(only)]
            versions = {name: by_seed for name, by_seed in versions.items() if name in only}
        places = [f"{name}/" for name in name_runs(options.run)] if len(options.run) > 1 else [""]
        figures = [
            one for run, place in zip(options.run, places) for one in read_run_figures(Path(run), place, only=only)
        ]
        report = page.Report(
            analysis=analyze(**given),
            title=options.title or make_title(options.run),
            trained_with=summarize_versions(versions),
            training=training,
            attachments=[*figures, *(read_attachment(*one) for one in named)],
            listed_sentences=options.listed_sentences,
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


class Samples:
    """Shows translations that were not chosen by hand: those with the best, the median, and the worst chrF.

    The first system decides which sentences are shown; of equal scores, the earlier sentence comes first. Every system's
    translation stands below the source and the reference, with its chrF in front of it. The output is Markdown.
    """  # noqa: E501

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--source", required=True, metavar="FILE", help="raw sources")
        add_reference_argument(parser, required=True)
        parser.add_argument(
            "--system",
            action="append",
            required=True,
            metavar="NAME=FILE",
            help="translations, detokenized, or a log of fairseq-generate (*.log); repeatable",
        )
        parser.add_argument(
            "--count", type=positive, default=3, metavar="N", help="sentences of each kind (%(default)s)"
        )

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        """Prints the samples.

        Raises:
            OSError: if a file cannot be read.
            ValueError: if the files do not fit together, or have fewer sentences than are to be shown.
        """
        reference = options.reference[0]
        references, further_references = read_references(options.reference)
        sources = read_sentences(options.source)
        require_same_count(options.source, sources, reference, references)
        if len(references) < 3 * options.count:
            raise ValueError(f"{reference} has {len(references)} sentences, too few for 3 x {options.count} samples")
        files = dict(split_named(options.parser, options.system))
        systems = {name: read_translations(file)[0] for name, file in files.items()}
        for name, translations in systems.items():
            require_same_count(files[name], translations, reference, references)
        test_set = TestSet(references, "", lowercase=False, source=sources, further_references=further_references)
        print("\n".join(show_samples(test_set, systems, options.count)))


def show_samples(test_set: TestSet, systems: Mapping[str, Sequence[str]], count: int) -> Iterator[str]:
    """The lines: a heading for each kind, a list for each sentence."""
    scores = {name: test_set.count("chrf", texts).score_sentences() for name, texts in systems.items()}
    for kind, places in choose_samples(next(iter(scores.values())), count).items():
        yield f"### {kind}\n"
        for place in places:
            yield f"- line {place + 1}, source: {escape_markdown(test_set.source[place])}  "
            for reference in (test_set.reference, *test_set.further_references):
                yield f"  reference: {escape_markdown(reference[place])}  "
            for name, texts in systems.items():
                yield f"  {escape_markdown(name)} ({scores[name][place]:.0f}): {escape_markdown(texts[place])}  "
        yield ""


def choose_samples(scores: Sequence[float], count: int) -> dict[str, list[int]]:
    """Kind to the places of its sentences, best first, for at least three times as many scores as are to be chosen."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    middle = (len(order) - count) // 2
    return {"Best": order[:count], "Median": order[middle : middle + count], "Worst": order[-count:]}
