"""The hypotheses of a search: what belongs to their sentence is kept once."""

from __future__ import annotations

import torch
from torch import Tensor


def keep_sentences(rows: Tensor, *, sentences: int, beam: int) -> tuple[Tensor | None, int]:
    """What has to be kept of each sentence so that hypotheses can continue.

    Args:
        rows: (N',) hypotheses; hypothesis n is one of sentence n // beam.
        sentences: B.
        beam: hypotheses of each sentence.

    Returns:
        The sentences (B',) to keep, or None for all of them unchanged; and how many hypotheses each of them then has,
        in turn. If that differs from sentence to sentence, a sentence is kept once for each of its hypotheses.
    """
    sentence = rows.div(beam, rounding_mode="floor")
    kept, counts = torch.unique_consecutive(sentence, return_counts=True)
    if kept.numel() == 0 or bool((counts != counts[0]).any()):
        return sentence, 1
    beam = int(counts[0])
    if kept.numel() == sentences and torch.equal(kept, torch.arange(sentences, device=kept.device)):
        return None, beam
    return kept, beam


def select(field: Tensor, sentences: Tensor | None) -> Tensor:
    """The sentences (B', …) of a field (B, …); for None, all of them, not copied."""
    return field if sentences is None else field.index_select(0, sentences)


def for_each_hypothesis(field: Tensor, beam: int) -> Tensor:
    """A field (B, …) with a row for each hypothesis: (B · beam, …)."""
    return field if beam == 1 else field.repeat_interleave(beam, dim=0)
