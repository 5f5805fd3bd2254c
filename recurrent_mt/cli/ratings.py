"""Scores systems from the files that annotators exported from a page of `recurrent-mt rate`."""

from __future__ import annotations

import argparse

from ..arguments import natural
from ..ratings.ratings import read_all_ratings, read_key
from ..ratings.summary import as_json, as_text, evaluate_ratings
from ..text_files import check_output_files, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ratings", nargs="+", metavar="FILE", help="one exported file per annotator, all from the same page"
    )
    parser.add_argument("--key", required=True, metavar="FILE", help="the page's key, PAGE.key.json")
    parser.add_argument("--out", required=True, help="writes OUT.txt and OUT.json")
    parser.add_argument("--allow-unrated", action="store_true", help="accept files with unrated items")
    parser.add_argument("--exclude-failing", action="store_true", help="leave out annotators who fail the controls")
    parser.add_argument(
        "--resamples", type=int, default=1000, help="bootstrap resamples for the intervals (default: %(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=12345, help="seed of the resampling (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    """Prints the scores, and writes them to the two files."""
    outputs = {f"{options.out}{suffix}": render for suffix, render in {".json": as_json, ".txt": as_text}.items()}
    check_output_files([*options.ratings, options.key], outputs)
    key = read_key(options.key)
    outcome = evaluate_ratings(
        read_all_ratings(options.ratings, key, allow_unrated=options.allow_unrated),
        key,
        exclude_failing=options.exclude_failing,
        resamples=options.resamples,
        seed=options.seed,
    )
    for file, render in outputs.items():
        write_text(file, render(outcome))
    print(as_text(outcome), end="")
