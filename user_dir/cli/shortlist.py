"""Learns a lexical shortlist: the target words that each source word can become, so that a search scores no others.

    recurrent-mt shortlist --checkpoint MODEL.pt --data DATA --source train.fr --target train.en --out shortlist.tsv
    fairseq-generate DATA --user-dir "$(recurrent-mt user-dir)" --task native_translation --shortlist shortlist.tsv …

A target word belongs to the source word that the model attends to most when it writes it. The text is that of the
training, as the model reads it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from recurrent_mt.arguments import natural, positive
from recurrent_mt.shortlist import write_shortlist
from recurrent_mt.text_files import check_output_files, read_sentences

from ..checkpoints.checkpoint import Checkpoint


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


def learn_shortlist(
    checkpoint: Checkpoint, sources: Sequence[str], targets: Sequence[str], *, per_word: int, always: int
) -> dict[str, list[str]]:
    """The target words of each source word, most frequent first, as :mod:`recurrent_mt.shortlist` writes them.

    Args:
        checkpoint: an encoder–decoder with attention.
        sources: the training text, as space-separated tokens.
        targets: its translations, the same way.
        per_word: how many target words of a source word are kept.
        always: how many of the most frequent target words every translation may have.

    Raises:
        ValueError: if the model has no attention, or if the sides do not fit together.
    """
    source, target = checkpoint.task.source_dictionary, checkpoint.task.target_dictionary
    pairs = []
    for batch in checkpoint.batches(sources, targets, max_tokens=4000):
        with torch.no_grad():
            _, extra = checkpoint.model(**batch["net_input"], features_only=True)
        if not extra or extra.get("attn") is None:
            raise ValueError(f"{checkpoint.path} has no attention, from which a shortlist is learned")
        words = batch["target"]
        read = batch["net_input"]["src_tokens"].gather(1, extra["attn"][0].argmax(2))
        pairs.append((read * len(target) + words)[words != target.pad()].numpy())
    numbers, counts = np.unique(np.concatenate(pairs), return_counts=True)
    found: dict[str, list[str]] = {}
    order = np.lexsort((-counts, numbers // len(target)))
    for number in numbers[order]:
        of_word = found.setdefault(source[number // len(target)], [])
        if len(of_word) < per_word:
            of_word.append(target[number % len(target)])
    frequent = (-np.bincount(numbers % len(target), weights=counts)).argsort(kind="stable")[:always]
    end = found.setdefault(source.eos_word, [])
    end += [word for word in (target[number] for number in frequent) if word not in end]
    return found
