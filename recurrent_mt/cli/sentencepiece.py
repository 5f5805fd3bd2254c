"""Learns a SentencePiece model (unigram) from text, or splits standard input with one.

Characters are not changed: removing the spaces between a line's pieces and reading ▁ as a space gives that line again,
if its spaces are single and it has no ▁ itself.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator
from itertools import chain

import sentencepiece

from ..arguments import positive
from ..ordered_map import map_lines
from ..subwords import load_sentencepiece
from ..text_files import check_output_files, read_lines, read_standard_input, write_aside

#: More than pieces need to be learned well; SentencePiece holds all lines in memory.
MOST_LINES = 1_000_000
#: Bytes of a line.
LONGEST_LINE = 2**30


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="command", required=True)
    learning = commands.add_parser("train", help="learn a model")
    learning.add_argument("files", nargs="+", help="text, one sentence per line")
    learning.add_argument("--size", required=True, type=positive, help="the most pieces")
    splitting = commands.add_parser("encode", help="split standard input")
    splitting.add_argument("--jobs", type=positive, default=1, metavar="N", help="processes (1)")
    for command in (learning, splitting):
        command.add_argument("--model", required=True, help="the model file")


def run(options: argparse.Namespace) -> None:
    """Learns a model, or splits text."""
    if options.command == "encode":
        encode(options.model, options.jobs)
        return
    try:
        train(options.files, options.model, options.size)
    except RuntimeError as error:  # how the library says that a size does not fit the text
        # What the library advises besides are options that it has and this tool has not.
        reason = str(error).rpartition("] ")[2].partition(" Increase")[0]
        message = f"SentencePiece cannot learn {options.size} pieces from this text: {reason}"
        raise ValueError(message) from error


def train(files: list[str], model: str, size: int) -> None:
    """Writes the model; small corpora that do not fill `size` pieces get fewer."""
    check_output_files(files, [model], "--model")
    with write_aside(model) as partial, partial.open("wb") as file:
        # Given names, SentencePiece would write them into the model, which would differ from folder to folder.
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sample_lines(files),
            model_writer=file,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=0.9995,
            normalization_rule_name="identity",
            # It would leave out longer ones; in bytes, its limit is soon reached by text that is not Latin.
            max_sentence_length=LONGEST_LINE,
            minloglevel=1,
        )


def sample_lines(files: list[str], most: int = MOST_LINES) -> Iterator[str]:
    """The lines of all files in order; of more than ``most``, so many, always the same.

    SentencePiece would draw others each time: no seed makes its generator repeat what it drew in another process.
    """
    total = sum(1 for name in files for _ in read_lines(name))
    chosen = set(random.Random(1).sample(range(total), most)) if total > most else range(total)
    lines = chain.from_iterable(map(read_lines, files))
    return (text for place, (_, text) in enumerate(lines) if place in chosen)


def encode(model: str, jobs: int) -> None:
    """Splits standard input into pieces, line by line."""
    with os.fdopen(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n") as target:
        for line in map_lines(load_sentencepiece(model), read_standard_input(), jobs):
            target.write(line + "\n")
