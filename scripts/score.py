#!/usr/bin/env python3
"""Scores translations in text files against a reference: BLEU, chrF, TER and METEOR in one table."""

import argparse
import logging
import sys

from recurrent_mt.evaluation.command_line import add_jobs_argument
from recurrent_mt.evaluation.file_scores import PAIRED_TESTS, Scoring, score_files
from recurrent_mt.evaluation.tables import tables_as_text
from recurrent_mt.metrics import METRICS
from recurrent_mt.text_files import read_sentences, require_same_count


def main() -> None:
    """Command line."""
    parser = argument_parser()
    arguments = parser.parse_args()
    scoring = Scoring(
        arguments.metrics,
        arguments.target_lang,
        arguments.tokenize,
        arguments.lowercase,
        arguments.confidence,
        arguments.paired,
        arguments.seed,
    )
    if scoring.paired and len(arguments.system) < 2:
        parser.error("--paired compares systems with the first one: give --system at least twice")
    # sacrebleu tells each step of a paired test, and fairseq has its messages shown.
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)
    try:
        references = read_sentences(arguments.reference)
        systems = {}
        for value in arguments.system:
            name, file = split_system(parser, value)
            if name in systems:
                parser.error(f"--system {value}: there is a system {name} already")
            systems[name] = read_sentences(file)
            require_same_count(file, systems[name], arguments.reference, references)
        scores = score_files(systems, references, scoring, jobs=arguments.jobs)
    except (OSError, ValueError, RuntimeError, ModuleNotFoundError) as error:
        sys.exit(f"error: {error}")
    if arguments.out:
        scores.write(arguments.out)
    print(tables_as_text([scores.table()]), end="")


def argument_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", required=True, help="raw reference, one sentence a line")
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=FILE",
        help="detokenised translations, one a line; may be repeated",
    )
    parser.add_argument(
        "--metrics",
        type=metric_names,
        default=["bleu", "chrf", "ter"],
        metavar="NAME,…",
        help=f"any of {','.join(METRICS)}; meteor needs nltk (default: bleu,chrf,ter)",
    )
    parser.add_argument("--target-lang", help="chooses the tokenisation: zh for Chinese, else 13a")
    parser.add_argument("--tokenize", help="one of sacrebleu's tokenisations: 13a, zh, intl, char, none …")
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
        help="test each system against the first: by the bootstrap, which gives intervals too (--confidence resamples, "
        "else 1000), or by 10,000 trials of approximate randomisation",
    )
    parser.add_argument("--seed", type=int, default=12345, help="of resampling (12345, sacrebleu's)")
    add_jobs_argument(parser)
    parser.add_argument("--out", metavar="PREFIX", help="writes PREFIX.txt, PREFIX.md and PREFIX.json as well")
    return parser


def metric_names(text: str) -> list[str]:
    """Names between commas."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in METRICS:
            raise argparse.ArgumentTypeError(f"unknown metric '{name}': choose from {', '.join(METRICS)}")
    return names


def split_system(parser: argparse.ArgumentParser, value: str) -> tuple[str, str]:
    """``NAME=FILE`` in two."""
    name, equals, file = value.partition("=")
    if not (name and equals and file):
        parser.error(f"--system must be NAME=FILE, not '{value}'")
    return name, file


if __name__ == "__main__":
    main()
