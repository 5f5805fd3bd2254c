"""Separates the words of standard input by spaces, or joins such words again; one sentence per line.

    recurrent-mt words split --language fr <RAW >WORDS
    recurrent-mt words join --language zh <WORDS >RAW
    recurrent-mt words normalize --language en <RAW >REGULAR
    recurrent-mt words copy --language en <RAW >LINES
    recurrent-mt words segment --codes MERGES <WORDS >SUBWORDS

Languages with spaces are split as in Moses (sacremoses), Chinese with jieba. Where Moses has no rules, words keep their
apostrophes, and typographic quotation marks and the punctuation of other scripts are joined to their words. normalize
does not change words; it makes characters and spaces regular, which split does, too; with --whole-words, it accepts no
text that BPE has split already. copy leaves characters alone, so that every program finds the same lines: carriage
returns and NULs become spaces, and a byte order mark is dropped, which all of these do. segment splits words into
subwords by subword-nmt's merges, as its apply-bpe does, but on as many processors as --jobs says.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..arguments import positive
from ..characters import CONTINUES, lowercase, normalize
from ..data.words import make_tokenizer
from ..ordered_map import map_lines
from ..subwords import find_piece, load_bpe
from ..text_files import FileError, read_standard_input, require_unchanged


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["split", "join", "normalize", "copy", "segment"])
    parser.add_argument("--language", help="code, such as fr, en, or zh; split and join need it")
    parser.add_argument("--whole-words", action="store_true", help="refuse words that end in @@, as subwords of BPE do")
    parser.add_argument("--lowercase", action="store_true", help="lowercase the output")
    parser.add_argument("--codes", metavar="FILE", help="subword-nmt's file of merges, for segment")
    parser.add_argument(
        "--unchanged",
        nargs=2,
        metavar=("CRC32", "FILE"),
        help="fail if the file that is standard input has another checksum once it was read",
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="processes (1)")


def run(options: argparse.Namespace) -> None:
    """Standard input to standard output.

    Raises:
        OSError: if there is no file of merges.
        FileError: at the first line that is not UTF-8, or has subwords; those before it have been written. At the end,
            if the file has changed.
    """
    if (options.action == "segment") != bool(options.codes):
        options.parser.error("--codes goes with segment, and segment with --codes")
    if options.action in ("split", "join") and not options.language:
        options.parser.error(f"{options.action} needs --language")
    function = load_bpe(options.codes) if options.codes else choose_function(options.action, options.language)
    lowered = (lambda line: lowercase(function(line), options.language or "")) if options.lowercase else function
    with io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n") as target:
        lines = map_lines(lowered, read_standard_input(), options.jobs)
        for line in require_whole_words(lines) if options.whole_words else lines:
            target.write(line + "\n")
    if options.unchanged:
        expected, file = options.unchanged
        require_unchanged(Path(file), expected)


def require_whole_words(lines: Iterable[str]) -> Iterator[str]:
    """Passes lines on.

    Raises:
        FileError: at the first that has a word like a subword of BPE: joined with the next one, it would be lost.
    """
    for number, line in enumerate(lines, 1):
        if word := find_piece(line):
            raise FileError(
                "standard input",
                f"the word {word} ends in {CONTINUES}, as subwords of BPE do: give text without them, or "
                "segmentation=word:N, which keeps them",
                line=number,
            )
        yield line


def choose_function(action: str, language: str) -> Callable[[str], str]:
    """Returns the function to apply to each line."""
    if action == "copy":
        return str
    if action == "normalize":
        return normalize
    tokenizer = make_tokenizer(language)
    return tokenizer.tokenize if action == "split" else tokenizer.detokenize
