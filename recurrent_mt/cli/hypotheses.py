"""Writes the best hypothesis of each sentence of a fairseq-generate log, or all of them, in corpus order.

An unknown word is written as ⁇, as SentencePiece prints it, which is one wrong word for every metric; for BLEU,
``<unk>`` would be three tokens. The file appears once it is whole.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
from pathlib import Path

from ..evaluation.generate_log import read_generate_log
from ..text_files import FileError, check_output_files, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", help="output of fairseq-generate")
    parser.add_argument("--all", action="store_true", help="whole n-best lists, one hypothesis per line, best first")
    parser.add_argument("--detokenizer", metavar="COMMAND", help="filter that makes text of the words of each line")
    parser.add_argument("--out", required=True, type=Path, help="text file to write")


def run(options: argparse.Namespace) -> None:
    """Writes the hypotheses to the file."""
    check_output_files([options.log], [options.out])
    log = read_generate_log(options.log)
    lists = [sentence.hypotheses for sentence in log.sentences]
    hypotheses = [hypothesis for one in lists for hypothesis in (one if options.all else one[:1])]
    text = "".join(f"{hypothesis.marked_text}\n" for hypothesis in hypotheses)
    if options.detokenizer:
        text = detokenize(options.detokenizer, text, options.log)
    write_text(options.out, text)


def detokenize(command: str, text: str, log: str) -> str:
    """What a filter makes of the lines of a text.

    Raises:
        FileError: if it fails, or writes another number of lines than it reads; it names the log.
    """
    done = subprocess.run(shlex.split(command), input=text, stdout=subprocess.PIPE, encoding="utf-8")
    counts = done.stdout.count("\n"), text.count("\n")
    if done.returncode or counts[0] != counts[1]:
        raise FileError(log, f"{command}: status {done.returncode}, {counts[0]} lines of {counts[1]}")
    return done.stdout
