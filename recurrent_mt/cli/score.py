"""Scores translations in text files against a reference: BLEU, chrF, TER, and METEOR in one table."""

from __future__ import annotations

import argparse

from ..evaluation.file_scores import PAIRED_TESTS, Scoring, score_files
from ..evaluation.tables import tables_as_text
from ..text_files import read_sentences, require_same_count
from .arguments import add_jobs_argument, make_settings, split_files
from .inputs import add_metrics_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reference", required=True, help="raw reference, one sentence per line")
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=FILE",
        help="detokenized translations, one per line; may be repeated",
    )
    add_metrics_argument(parser)
    parser.add_argument(
        "--target-lang",
        dest="target_language",
        metavar="LANG",
        help="chooses the tokenization: zh for Chinese; ja-mecab, ko-mecab where installed, or else char, as for Thai; "
        "13a for all others",
    )
    parser.add_argument("--tokenize", help="one of sacrebleu's tokenizers: 13a, zh, intl, char, none, …")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument(
        "--confidence",
        type=int,
        nargs="?",
        const=1000,
        default=0,
        metavar="N",
        help="95%% intervals from N bootstrap resamples (1000)",
    )
    parser.add_argument(
        "--paired",
        # The British spelling keeps working.
        type=lambda name: {"randomisation": "randomization"}.get(name, name),
        choices=PAIRED_TESTS,
        help="test each system against the first: by bootstrap, which also gives intervals (--confidence resamples, "
        "otherwise 1000), or by 10,000 trials of approximate randomization",
    )
    parser.add_argument("--seed", type=int, default=12345, help="seed of the resampling (12345, sacrebleu's)")
    add_jobs_argument(parser)
    parser.add_argument("--out", metavar="PREFIX", help="also write PREFIX.txt, PREFIX.md, and PREFIX.json")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and writes it to ``--out``.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the files do not fit together.
        ModuleNotFoundError: for METEOR without nltk.
    """
    scoring = make_settings(Scoring, options)
    if scoring.paired and len(options.system) < 2:
        options.parser.error("--paired compares systems with the first one: give --system at least twice")
    references = read_sentences(options.reference)
    systems = {}
    for name, file in split_files(options.parser, options.system).items():
        systems[name] = read_sentences(file)
        require_same_count(file, systems[name], options.reference, references)
    scores = score_files(systems, references, scoring, jobs=options.jobs)
    if options.out:
        scores.write(options.out)
    print(tables_as_text([scores.table()]), end="")
