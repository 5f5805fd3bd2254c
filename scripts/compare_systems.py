#!/usr/bin/env python3
"""Prints one table of systems that translated the same test set, and writes it as text, Markdown and JSON."""

import argparse
import sys
from pathlib import Path

from user_dir.analysis.comparison import References, as_json, as_markdown, as_text, read_system
from user_dir.analysis.sentences import read_sentences


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=FOLDER",
        help="a folder with train.log, test.log (fairseq-generate) and test.detokenized",
    )
    parser.add_argument("--reference", required=True, help="raw reference, one sentence a line")
    parser.add_argument("--tokenized-reference", help="reference as the models' words, for a second column")
    parser.add_argument("--target-lang", required=True, help="chooses BLEU's tokenisation")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--out", required=True, help="writes OUT.txt, OUT.md and OUT.json")
    arguments = parser.parse_args()
    tokenized = arguments.tokenized_reference
    try:
        references = References(
            read_sentences(arguments.reference),
            read_sentences(tokenized) if tokenized else None,
            arguments.target_lang,
            arguments.lowercase,
        )
        systems = [read_system(*split_system(parser, value), references) for value in arguments.system]
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    for suffix, render in {".json": as_json, ".md": as_markdown, ".txt": as_text}.items():
        partial = Path(f"{arguments.out}{suffix}.partial")
        partial.write_text(render(systems), encoding="utf-8")
        partial.rename(f"{arguments.out}{suffix}")
    print(as_text(systems), end="")


def split_system(parser: argparse.ArgumentParser, value: str) -> tuple[str, str]:
    """``NAME=FOLDER`` in two."""
    name, equals, folder = value.partition("=")
    if not (name and equals and folder):
        parser.error(f"--system must be NAME=FOLDER, not '{value}'")
    return name, folder


if __name__ == "__main__":
    main()
