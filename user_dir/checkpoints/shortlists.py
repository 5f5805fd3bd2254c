"""Shortlists learned from where a model looks: each target word belongs to the source word it attends to most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from .checkpoint import Checkpoint


def learn_shortlist(
    checkpoint: Checkpoint,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    per_word: int,
    always: int,
    max_tokens: int = 4000,
) -> dict[str, list[str]]:
    """The target words of each source word, most frequent first, as :mod:`recurrent_mt.shortlist` writes them.

    Args:
        checkpoint: an encoder–decoder with attention.
        sources: the training text, as space-separated tokens.
        targets: its translations, the same way.
        per_word: how many target words of a source word are kept.
        always: how many of the most frequent target words every translation may have.
        max_tokens: in a batch, on either side.

    Raises:
        ValueError: if the model has no attention, or if the sides do not fit together.
    """
    source, target = checkpoint.task.source_dictionary, checkpoint.task.target_dictionary
    pairs = []
    for batch in checkpoint.batches(sources, targets, max_tokens=max_tokens):
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
