#!/usr/bin/env python3
"""Writes the best hypothesis of each sentence of a fairseq-generate log, in corpus order.

An unknown word is written as ⁇, as SentencePiece prints it: one wrong word to every metric, where ``<unk>`` would be
three tokens to BLEU.
"""

import argparse
import sys
from pathlib import Path

from user_dir.analysis.generate_log import LogError, read_generate_log


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", help="output of fairseq-generate")
    parser.add_argument("--out", required=True, type=Path, help="text file to write")
    arguments = parser.parse_args()
    try:
        hypotheses = read_generate_log(arguments.log).best()
    except LogError as error:
        sys.exit(f"error: {error}")
    partial = Path(f"{arguments.out}.partial")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{(hypothesis.text or '').replace('<unk>', '⁇')}\n" for hypothesis in hypotheses)
    partial.rename(arguments.out)


if __name__ == "__main__":
    main()
