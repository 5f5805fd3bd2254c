#!/usr/bin/env python3
"""Writes the best hypothesis of each sentence of a fairseq-generate log, or all of them, in corpus order.

An unknown word is written as ⁇, as SentencePiece prints it: one wrong word to every metric, where ``<unk>`` would be
three tokens to BLEU.
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.generate_log import read_generate_log
from recurrent_mt.text_files import FileError


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", help="output of fairseq-generate")
    parser.add_argument("--all", action="store_true", help="whole n-best lists, one hypothesis a line, best first")
    parser.add_argument("--out", required=True, type=Path, help="text file to write")
    arguments = parser.parse_args()
    try:
        log = read_generate_log(arguments.log)
    except FileError as error:
        sys.exit(f"error: {error}")
    lists = [sentence.hypotheses for sentence in log.sentences]
    hypotheses = [hypothesis for one in lists for hypothesis in (one if arguments.all else one[:1])]
    partial = Path(f"{arguments.out}.partial")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{(hypothesis.text or '').replace('<unk>', '⁇')}\n" for hypothesis in hypotheses)
    partial.rename(arguments.out)


if __name__ == "__main__":
    main()
