#!/usr/bin/env python3
"""Scores systems from the files that annotators exported from a page of scripts/rating_page.py."""

import argparse
import sys
from pathlib import Path

from recurrent_mt.ratings.ratings import read_all_ratings, read_key
from recurrent_mt.ratings.summary import as_json, as_text, evaluate


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="+", metavar="FILE", help="one exported file an annotator, all of one page")
    parser.add_argument("--key", required=True, metavar="FILE", help="the page's key, PAGE.key.json")
    parser.add_argument("--out", required=True, help="writes OUT.txt and OUT.json")
    parser.add_argument("--allow-unrated", action="store_true", help="accept files with unrated items")
    parser.add_argument("--exclude-failing", action="store_true", help="leave out annotators who fail the controls")
    parser.add_argument("--resamples", type=int, default=1000, help="for the intervals (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=12345, help="of the resampling (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        key = read_key(arguments.key)
        outcome = evaluate(
            read_all_ratings(arguments.ratings, key, allow_unrated=arguments.allow_unrated),
            key,
            exclude_failing=arguments.exclude_failing,
            resamples=arguments.resamples,
            seed=arguments.seed,
        )
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    for suffix, render in {".json": as_json, ".txt": as_text}.items():
        partial = Path(f"{arguments.out}{suffix}.partial")
        partial.write_text(render(outcome), encoding="utf-8")
        partial.rename(f"{arguments.out}{suffix}")
    print(as_text(outcome), end="")


if __name__ == "__main__":
    main()
