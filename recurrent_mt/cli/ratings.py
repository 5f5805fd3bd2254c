"""Scores systems from annotations of a campaign of `recurrent-mt rate`, as Pearmut's dashboard lets one download."""

from __future__ import annotations

import argparse

from ..arguments import natural
from ..ratings.ratings import read_all_ratings
from ..ratings.scores import as_json, as_text, evaluate_ratings
from ..text_files import check_output_files, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ratings", nargs="+", metavar="FILE", help="downloaded annotations; several if several servers had annotators"
    )
    parser.add_argument("--out", required=True, help="writes OUT.txt and OUT.json")
    parser.add_argument(
        "--resamples", type=int, default=1000, help="bootstrap resamples for the intervals (default: %(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=12345, help="seed of the resampling (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    """Prints the scores, and writes them to the two files."""
    outputs = {f"{options.out}{suffix}": render for suffix, render in {".json": as_json, ".txt": as_text}.items()}
    check_output_files(options.ratings, outputs)
    outcome = evaluate_ratings(*read_all_ratings(options.ratings), resamples=options.resamples, seed=options.seed)
    for file, render in outputs.items():
        write_text(file, render(outcome))
    print(as_text(outcome), end="")
