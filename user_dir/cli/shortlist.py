"""Learns a lexical shortlist: the target words that each source word can become, so that a search scores no others.

    recurrent-mt shortlist --checkpoint MODEL.pt --data DATA --source train.fr --target train.en --out shortlist.tsv
    fairseq-generate DATA --user-dir "$(recurrent-mt user-dir)" --task native_translation --shortlist shortlist.tsv …

A target word belongs to the source word that the model attends to most when it writes it. The text is that of the
training, as the model reads it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.arguments import natural, positive
from recurrent_mt.shortlist import write_shortlist
from recurrent_mt.text_files import check_output_files, read_sentences

from ..checkpoints.checkpoint import Checkpoint
from ..checkpoints.shortlists import learn_shortlist


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="checkpoint of a model with attention")
    parser.add_argument("--data", required=True, help="folder of binarized data, for its dictionaries")
    parser.add_argument("--source", required=True, help="training text as the model reads it, one sentence per line")
    parser.add_argument("--target", required=True, help="its translations, the same way")
    parser.add_argument("--words", type=positive, default=30, help="target words of each source word (30)")
    parser.add_argument("--always", type=natural, default=100, help="frequent words of every translation (100)")
    parser.add_argument("--out", required=True, help="file to write")


def run(options: argparse.Namespace) -> None:
    """Writes the file."""
    check_output_files([options.checkpoint, options.source, options.target], [options.out])
    sides = [read_sentences(file) for file in (options.source, options.target)]
    checkpoint = Checkpoint(options.checkpoint, options.data)
    found = learn_shortlist(checkpoint, *sides, per_word=options.words, always=options.always)
    write_shortlist(options.out, found)
    print(f"{len(found)} source words: {options.out}")
