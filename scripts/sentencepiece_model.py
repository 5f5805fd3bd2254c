#!/usr/bin/env python3
"""Learns a SentencePiece model (unigram) from text, or splits standard input with one."""

import argparse
import os
import sys
from pathlib import Path

import sentencepiece


def train(files: list[str], model: str, size: int) -> None:
    """Writes the model; small corpora that do not fill `size` pieces get fewer."""
    partial = Path(f"{model}.partial")
    sentencepiece.set_random_generator_seed(1)
    with partial.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            input=files,
            model_writer=file,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=0.9995,
            input_sentence_size=1_000_000,
            shuffle_input_sentence=True,
            minloglevel=1,
        )
    partial.rename(model)


def encode(model: str) -> None:
    """Standard input to standard output, pieces separated by spaces."""
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    source = os.fdopen(sys.stdin.fileno(), encoding="utf-8", newline="\n")
    target = os.fdopen(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n")
    with source, target:
        for line in source:
            target.write(" ".join(processor.encode(line.rstrip("\r\n"), out_type=str)) + "\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    learning = commands.add_parser("train", help="learn a model")
    learning.add_argument("files", nargs="+", help="text, one sentence a line")
    learning.add_argument("--size", required=True, type=int, help="pieces, at most")
    splitting = commands.add_parser("encode", help="split standard input")
    for command in (learning, splitting):
        command.add_argument("--model", required=True, help="the model file")
    arguments = parser.parse_args()
    if arguments.command == "train":
        train(arguments.files, arguments.model, arguments.size)
    else:
        encode(arguments.model)


if __name__ == "__main__":
    main()
