"""The soft alignments of given translations, by forced decoding.

``fairseq-generate --print-alignment soft`` prints the alignments of the model's own translations. For given
translations, fairseq 0.12.2 has ``--score-reference``, but that prints hard links only: with ``--print-alignment soft``
it fails with a TypeError. Its scorer does compute the weights, so we use the scorer here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairseq.sequence_scorer import SequenceScorer
from torch import Tensor

from recurrent_mt.kernels.packing import padding_at_ends

from .checkpoint import Checkpoint, tokens_of

#: How many decimals of a weight are kept.
DIGITS = 5


def forced_alignments(
    checkpoint: Checkpoint, sources: Sequence[str], targets: Sequence[str], *, max_tokens: int = 4000
) -> list[dict[str, Any]]:
    """The attention of a model that is forced to produce the given translations, in sentence order.

    Args:
        checkpoint: an encoder–decoder with attention.
        sources: space-separated tokens.
        targets: the same, and as many.
        max_tokens: the most tokens in a batch, on either side.

    Returns:
        For each sentence ``{"sentence": number from 0, "source": tokens, "target": tokens, "weights": (T, S)}``, both
        sides with ``</s>``; row t holds what the model attends to when it produces target token t, and sums to 1 up to
        rounding to five decimals.

    Raises:
        ValueError: if the model has no attention, if there are not as many targets as sources, or if a sentence is too
            long.
    """
    scorer = SequenceScorer(checkpoint.task.target_dictionary)
    padding = checkpoint.task.source_dictionary.pad()
    weights: dict[int, list[list[float]]] = {}
    for batch in checkpoint.batches(sources, targets, max_tokens=max_tokens):
        scored = scorer.generate([checkpoint.model], batch)
        rows = zip(batch["id"].tolist(), batch["net_input"]["src_tokens"], scored)
        for number, source, (translation, *_) in rows:
            if translation["attention"] is None:
                raise ValueError(f"{checkpoint.path} has no attention, so it has no alignments")
            weights[number] = without_padding(
                translation["attention"],
                ~padding_at_ends(source[None], padding)[0],
                length=translation["tokens"].numel(),
            )
    return [
        {"sentence": number, "source": tokens_of(source), "target": tokens_of(target), "weights": weights[number]}
        for number, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


def without_padding(attention: Tensor, valid: Tensor, *, length: int) -> list[list[float]]:
    """One sentence's weights, rounded.

    Args:
        attention: (T, S) from a padded batch.
        valid: (S,) False on padding.
        length: the target's length.
    """
    return attention[:length, valid].double().cpu().numpy().round(DIGITS).tolist()
