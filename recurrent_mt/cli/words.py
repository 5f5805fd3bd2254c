"""Separates the words of standard input by spaces, or joins such words again; one sentence per line.

    recurrent-mt words split --language fr <RAW >WORDS
    recurrent-mt words join --language zh <WORDS >RAW
    recurrent-mt words normalize --language en <RAW >REGULAR

Languages with spaces are split as in Moses (sacremoses), Chinese with jieba. normalize does not change words; it makes
characters and spaces regular, which split does, too.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable

from ..data.words import make_tokenizer, normalize
from ..ordered_map import map_lines
from ..text_files import read_standard_input


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("action", choices=["split", "join", "normalize"])
    parser.add_argument("--language", required=True, help="code, such as fr, en, or zh")
    parser.add_argument("--lowercase", action="store_true", help="lowercase the output")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")


def run(options: argparse.Namespace) -> None:
    """Standard input to standard output.

    Raises:
        FileError: at the first line that is not UTF-8; those before it have been written.
    """
    function = choose_function(options.action, options.language)
    lowered = (lambda line: function(line).lower()) if options.lowercase else function
    with io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n") as target:
        for line in map_lines(lowered, read_standard_input(), options.jobs):
            target.write(line + "\n")


def choose_function(action: str, language: str) -> Callable[[str], str]:
    """What is done with each line."""
    if action == "normalize":
        return normalize
    tokenizer = make_tokenizer(language)
    return tokenizer.tokenize if action == "split" else tokenizer.detokenize
