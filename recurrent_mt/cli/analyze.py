r"""Shows where translation breaks: scores by sentence length, by unknown words, by word frequency, with intervals.

The recipes' run folders know their test set, systems, seeds, and dictionaries:

    recurrent-mt analyze runs/quickstart-fr-en --out analysis

For any other output, one sentence per line; several files for one system are its seeds:

    recurrent-mt analyze --source test.fr --reference test.en --target-lang en \
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out analysis
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..arguments import (
    add_jobs_argument,
    add_metrics_argument,
    add_reference_argument,
    metric_names,
    refuse_options,
    split_files,
    split_named,
    whole_numbers,
)
from ..evaluation.analysis import analyze
from ..evaluation.plots import write_plots
from ..evaluation.scores import Settings
from ..evaluation.tables import tables_as_text
from ..evaluation.translated_files import (
    System,
    choose_baseline,
    read_runs,
    read_system,
    read_test_set,
    warn_of_subwords,
)
from ..metrics import METRICS
from ..runs.folder import REPORTED, RunFolder
from ..text_files import check_output_files, stream_sentences

#: The options that name a file each, and all that run folders have no use for.
PLAIN_FILES = ("source", "training_text")
FILE_OPTIONS = (*PLAIN_FILES, "reference", "source_lang", "target_lang", "lowercase")
#: So many sentences of the training text show what its words are.
FIRST_SENTENCES = 1000
#: Names of systems may have a comma within them, as in ``lstm, <unk> forbidden``.
BETWEEN_NAMES = ",(?! )"
SYSTEM_FORM = "NAME=FILE[,FILE]"


def configure(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument("--out", required=True, help="folder for analysis.txt, .md, .json, and the plots")


def run(options: argparse.Namespace) -> None:
    """Prints the analysis, and writes it and its plots to the folder."""
    folder = Path(options.out)
    check_output_files([], [folder / "analysis.txt"])
    analysis = analyze(**read_input(options))
    analysis.write(folder / "analysis")
    write_plots(analysis, folder)
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
    files.add_argument("--lowercase", action="store_true", help="ignore case")
    what = parser.add_argument_group("what to count")
    add_metrics_argument(what, METRICS, Settings.metrics)
    what.add_argument(
        "--detailed",
        type=partial(metric_names, METRICS),
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
    what.add_argument(
        "--resamples",
        type=int,
        default=Settings.resamples,
        help="bootstrap resamples of intervals, and trials of the test; 0: neither (%(default)s)",
    )
    what.add_argument("--length-limits", dest="limits", type=whole_numbers, default=Settings.limits, help="10,20,30,…")
    add_jobs_argument(parser)


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
        named = split_named(options.parser, options.system, SYSTEM_FORM)
        systems = [read_system(name, split_files(files), options.reference[0], test_set) for name, files in named]
        if options.training_text:
            training_text = stream_sentences(options.training_text)
            first = list(islice(training_text, FIRST_SENTENCES))
            warn_of_subwords(options.training_text, first)
            training_text = chain(first, training_text)
    settings = Settings(
        options.metrics, options.detailed, resamples=options.resamples, limits=options.limits, jobs=options.jobs
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


def find_system(systems: Sequence[System], name: str, option: str) -> System:
    """The system of that name.

    Raises:
        ValueError: naming the option and the systems that there are.
    """
    for system in systems:
        if system.name == name:
            return system
    raise ValueError(f"{option} {name}: the systems are {', '.join(system.name for system in systems)}")
