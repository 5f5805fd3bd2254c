#!/usr/bin/env python3
"""Separates the words of standard input by spaces, or puts such words together again; one sentence a line.

    python scripts/words.py split --language fr <RAW >WORDS
    python scripts/words.py join --language zh <WORDS >RAW

Languages with spaces as Moses does (sacremoses), Chinese with jieba.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from functools import partial

import without_fairseq  # noqa: F401

from user_dir.preparation.line_pool import map_lines
from user_dir.preparation.lines import normal_form
from user_dir.preparation.words import joiner, splitter


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["split", "join", "normalize"], help="normalize: leave the words as they are")
    parser.add_argument("--language", required=True, help="code, such as fr, en or zh")
    parser.add_argument("--lowercase", action="store_true", help="lower-case what is split or normalised")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    options = parser.parse_args()
    make = {
        "split": partial(splitter, options.language, options.lowercase),
        "join": partial(joiner, options.language),
        "normalize": partial(normalizer, options.lowercase),
    }[options.action]
    source = os.fdopen(sys.stdin.fileno(), encoding="utf-8", newline="\n")
    with source, io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n") as target:
        for line in map_lines(make, (line.rstrip("\n") for line in source), options.jobs):
            target.write(line + "\n")


def normalizer(lowercase: bool):  # type: ignore[no-untyped-def]
    """The function that SentencePiece's input goes through."""
    return (lambda text: normal_form(text).lower()) if lowercase else normal_form


if __name__ == "__main__":
    main()
