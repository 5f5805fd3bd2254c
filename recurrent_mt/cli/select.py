"""Selects the sentence pairs most similar to a domain, by the difference of cross-entropies on both sides.

Moore and Lewis (2010), Axelrod et al. (2011): how much better a language model of the domain predicts a pair than a
model of a random sample of the corpus. Pairs are taken best first until there are WORDS source words (the papers'
61M words of Europarl count one side) and written to OUT.fr and OUT.en in corpus order.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..arguments import add_parallel_text_arguments, make_settings, natural
from ..data import selection

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def configure(parser: argparse.ArgumentParser) -> None:
    add_parallel_text_arguments(parser)
    parser.add_argument(
        "--in-domain",
        type=Path,
        nargs="+",
        required=True,
        metavar="PREFIX",
        help="parallel text of the domain, PREFIX.CODE; never a test set",
    )
    parser.add_argument(
        "--words",
        type=parse_word_count,
        required=True,
        metavar="WORDS",
        help="source words, as in 348M: words and punctuation marks as a tokenizer separates them; in zh, characters",
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="seed of the random sample (1)")


def run(options: argparse.Namespace) -> None:
    """Writes the pairs and says how many there are."""
    languages = (options.source_lang, options.target_lang)
    report = selection.select(make_settings(selection.Selection, options, languages=languages))
    print(
        f"{report['selected_pairs']:,} of {report['pairs']:,} pairs selected, {report['selected_words']:,} of "
        f"{report['words']:,} source words; see {options.report}."
    )


def parse_word_count(text: str) -> int:
    """A positive number, with K, M or G for thousands, millions or thousands of millions."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)", text.upper())
    number = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not number:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of words: give one such as 500000, 20M, or 0.5G")
    return number
