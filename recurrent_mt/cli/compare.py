r"""Compares systems: BLEU, chrF, TER, and METEOR in one table, with intervals and paired tests.

Translations in text files, scored against a reference:

    recurrent-mt compare --reference test.en --system a=a.en --system b=b.en --paired randomization

The systems of run folders, with what training and search took; an ablation has scores and costs in one table:

    recurrent-mt compare runs/baselines --models lstm,rnnsearch --seeds 1,2 --baseline lstm --out table
    recurrent-mt compare RUN --ablation rank --models base,rank-64 --baseline base --out rank

Other translations of a run's test set (NAME=FILE is short for --system NAME=FILE):

    recurrent-mt compare RUN mine=mine.en
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import (
    add_jobs_argument,
    add_metrics_argument,
    add_reference_argument,
    natural,
    refuse_options,
    split_files,
    split_named,
    whole_numbers,
)
from ..evaluation.comparison import Comparison, compare_runs, compare_translations
from ..evaluation.scores import RESAMPLES, Settings
from ..evaluation.tables import result_files, tables_as_text
from ..evaluation.translated_files import TestSet, TrainedRuns, read_references, read_system, warn_of_subwords
from ..metrics import METRICS, warn_of_language
from ..text_files import check_output_files, read_sentences
from ..text_form import read_text_form

#: What goes with translations in files, and what with the systems of run folders.
FILE_OPTIONS = ("reference", "target_lang", "lowercase")
RUN_OPTIONS = ("models", "seeds", "extra_tests", "ablation")

OPTIONS_ANYWHERE = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="*", metavar="RUN|NAME=FILE", help="run folders; or translations")
    add_input_arguments(parser)
    add_metrics_argument(parser, METRICS, Settings.metrics)
    parser.add_argument("--tokenize", help="one of sacrebleu's tokenizers: 13a, zh, intl, char, none, …")
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system the others are tested against (the first file; in run folders, the first fairseq model)",
    )
    parser.add_argument(
        "--resamples",
        "--confidence",
        type=int,
        nargs="?",
        const=RESAMPLES,
        metavar="N",
        help=f"bootstrap resamples of 95%% intervals, and trials of the test; 0: neither ({RESAMPLES}; 0 for files "
        "without --paired)",
    )
    parser.add_argument(
        "--paired",
        choices=["randomization"],
        help="test each system in a file against the baseline by approximate randomization, as run folders always are",
    )
    parser.add_argument("--seed", type=natural, default=Settings.seed, help="of the resampling (12345, sacrebleu's)")
    add_jobs_argument(parser)
    parser.add_argument("--out", metavar="PREFIX", help="also write PREFIX.txt, PREFIX.md, and PREFIX.json")


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what names translations in files, and the systems of run folders."""
    files = parser.add_argument_group("translations in files")
    add_reference_argument(files)
    files.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME=FILE[,FILE]",
        help="detokenized translations, one per line; several files count as seeds; may be repeated",
    )
    files.add_argument(
        "--target-lang",
        metavar="LANG",
        help="chooses the tokenization: zh for Chinese; ja-mecab, ko-mecab where installed, or else char, as for Thai; "
        "13a for all others",
    )
    files.add_argument("--lowercase", action="store_true", help="ignore case")
    runs = parser.add_argument_group("systems of run folders")
    runs.add_argument("--models", metavar="NAME,…", help="in the order of the rows (all)")
    runs.add_argument("--seeds", type=whole_numbers, metavar="N,…", help="of the trainings that count (all)")
    runs.add_argument(
        "--extra-tests",
        metavar="NAME=ID,…",
        help="further test sets: RUN/extra/NAME is what the translations extra-ID of each system are scored against",
    )
    runs.add_argument(
        "--ablation", metavar="NAME", help="scores, their distance from the baseline, and costs in one table"
    )


def run(options: argparse.Namespace) -> None:
    """Prints the tables, and writes them to ``--out``."""
    translations = [word for word in options.inputs if "=" in word and not Path(word).is_dir()]
    folders = [word for word in options.inputs if word not in translations]
    options.system = [*options.system, *translations]
    if options.paired and options.resamples == 0:
        options.parser.error("--paired needs --resamples")
    if options.out:
        files = [file for _, names in split_named(options.parser, options.system) for file in split_files(names)]
        check_output_files([*files, *options.reference], result_files(options.out))
    comparison = compare_files(options, folders) if options.system else compare_folders(options, folders)
    if options.out:
        comparison.write(options.out)
    print(tables_as_text(comparison.tables()), end="")


def compare_files(options: argparse.Namespace, folders: list[str]) -> Comparison:
    """Compares translations in files with ``--reference`` or the test set of a run folder."""
    refuse_options(options, RUN_OPTIONS, "goes with the systems of run folders: leave translations in files out")
    if bool(options.reference) == bool(folders) or len(folders) > 1:
        options.parser.error("translations in files need --reference, or one run folder whose test set they are of")
    if folders:
        refuse_options(options, FILE_OPTIONS, "is what the run folder says")
        form = read_text_form(folders[0])
        reference: str | Path = form.folder / "text" / "raw" / f"test.{form.target}"
        test_set = TestSet(read_sentences(reference), form.target, form.lowercase)
    else:
        reference = options.reference[0]
        sentences, others = read_references(options.reference)
        test_set = TestSet(sentences, options.target_lang or "", options.lowercase, further_references=others)
        warn_of_subwords(reference, test_set.reference)
        warn_of_language(test_set.reference, options.target_lang or options.tokenize or "", "--target-lang")
    named = split_named(options.parser, options.system)
    if options.paired and len(named) < 2:
        options.parser.error("--paired compares systems with the first one: give --system at least twice")
    resamples = options.resamples
    if resamples is None:
        resamples = RESAMPLES if options.paired else 0
    settings = choose_settings(options, resamples, paired=bool(options.paired))
    systems = [read_system(name, split_files(files), reference, test_set) for name, files in named]
    return compare_translations(test_set, systems, settings, baseline=options.baseline)


def compare_folders(options: argparse.Namespace, folders: list[str]) -> Comparison:
    """Compares the systems of run folders."""
    if not folders:
        options.parser.error("give run folders, or --reference and --system")
    refuse_options(options, FILE_OPTIONS, "goes with --system: a run folder has its own text, languages, and casing")
    if options.ablation and options.extra_tests:
        options.parser.error("--ablation is a table of the run's own test set: leave --extra-tests out")
    settings = choose_settings(options, RESAMPLES if options.resamples is None else options.resamples, paired=True)
    extra_tests = {}
    for part in filter(None, (options.extra_tests or "").split(",")):
        # Without an id, translations are found by the name.
        name, _, identity = part.partition("=")
        extra_tests[name] = identity or name
    return compare_runs(
        TrainedRuns(folders, options.models and options.models.split(","), options.seeds),
        settings,
        baseline=options.baseline,
        extra_tests=extra_tests,
        ablation=options.ablation or "",
    )


def choose_settings(options: argparse.Namespace, resamples: int, *, paired: bool) -> Settings:
    """What is asked for: nothing is broken down."""
    return Settings(
        options.metrics, (), options.tokenize, resamples=resamples, paired=paired, seed=options.seed, jobs=options.jobs
    )
