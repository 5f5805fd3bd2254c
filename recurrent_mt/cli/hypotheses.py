"""Writes the best hypothesis of each sentence of a fairseq-generate log, or all of them, in corpus order.

An unknown word is written as ⁇, as SentencePiece prints it, which is one wrong word for every metric; for BLEU,
``<unk>`` would be three tokens.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.generate_log import read_generate_log
from ..text_files import write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", help="output of fairseq-generate")
    parser.add_argument("--all", action="store_true", help="whole n-best lists, one hypothesis per line, best first")
    parser.add_argument("--out", required=True, type=Path, help="text file to write")


def run(options: argparse.Namespace) -> None:
    """Writes the hypotheses."""
    log = read_generate_log(options.log)
    lists = [sentence.hypotheses for sentence in log.sentences]
    hypotheses = [hypothesis for one in lists for hypothesis in (one if options.all else one[:1])]
    write_text(options.out, "".join(f"{hypothesis.marked_text}\n" for hypothesis in hypotheses))
