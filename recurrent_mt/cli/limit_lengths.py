"""Copies the pairs with 1 to N tokens on each side, or any number but 0, and says what was dropped."""

from __future__ import annotations

import argparse

from ..arguments import language_pair, positive
from ..data.parallel_text import limit_lengths
from ..text_files import check_output_files


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prefix", metavar="PREFIX", help="PREFIX.LANG is read, tokens separated by spaces")
    parser.add_argument("--pair", required=True, type=language_pair, metavar="SRC-TGT")
    parser.add_argument("--max", type=positive, metavar="N", help="the most tokens on a side (any number)")
    parser.add_argument("--refuse", action="store_true", help="fail at a pair that is too long, or empty")
    parser.add_argument("--same-as", metavar="PREFIX", help="text that must have as many lines")
    parser.add_argument("--out", required=True, metavar="PREFIX", help="PREFIX.LANG is written")


def run(options: argparse.Namespace) -> None:
    """Writes the pairs and says what was dropped."""
    given, made = ([f"{prefix}.{language}" for language in options.pair] for prefix in (options.prefix, options.out))
    check_output_files(given, made)
    dropped = limit_lengths(
        options.prefix,
        options.out,
        options.pair,
        most=options.max,
        refuse=options.refuse,
        same_as=options.same_as,
    )
    if dropped:
        print(dropped)
