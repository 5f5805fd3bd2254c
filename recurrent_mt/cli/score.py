"""Scores translations in text files against a reference: BLEU, chrF, TER, and METEOR in one table."""

from __future__ import annotations

import argparse
import logging

from ..evaluation.command_line import add_jobs_argument
from ..evaluation.file_scores import PAIRED_TESTS, Scoring, score_files
from ..evaluation.tables import tables_as_text
from ..metrics import METRICS
from ..text_files import read_sentences, require_same_count


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--reference", required=True, help="raw reference, one sentence per line")
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=FILE",
        help="detokenized translations, one per line; may be repeated",
    )
    parser.add_argument(
        "--metrics",
        type=parse_metrics,
        default=["bleu", "chrf", "ter"],
        metavar="NAME,…",
        help=f"any of {','.join(METRICS)}; meteor needs nltk (default: bleu,chrf,ter)",
    )
    parser.add_argument("--target-lang", help="chooses the tokenization: zh for Chinese, otherwise 13a")
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
    scoring = Scoring(
        options.metrics,
        options.target_lang,
        options.tokenize,
        options.lowercase,
        options.confidence,
        options.paired,
        options.seed,
    )
    if scoring.paired and len(options.system) < 2:
        options.parser.error("--paired compares systems with the first one: give --system at least twice")
    # sacrebleu logs each step of a paired test.
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)
    references = read_sentences(options.reference)
    systems = {}
    for value in options.system:
        name, file = split_system(options.parser, value)
        if name in systems:
            options.parser.error(f"--system {value}: there already is a system {name}")
        systems[name] = read_sentences(file)
        require_same_count(file, systems[name], options.reference, references)
    scores = score_files(systems, references, scoring, jobs=options.jobs)
    if options.out:
        scores.write(options.out)
    print(tables_as_text([scores.table()]), end="")


def parse_metrics(text: str) -> list[str]:
    """Names between commas."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"unknown metric '{name}': choose from {', '.join(METRICS)}")
    return names


def split_system(parser: argparse.ArgumentParser, value: str) -> tuple[str, str]:
    """Splits ``NAME=FILE`` in two."""
    name, equals, file = value.partition("=")
    if not (name and equals and file):
        parser.error(f"--system must be NAME=FILE, not '{value}'")
    return name, file
