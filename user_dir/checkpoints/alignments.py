"""The attention of models that are forced to produce given translations."""

from __future__ import annotations

from collections.abc import Sequence

from fairseq.sequence_scorer import SequenceScorer

from recurrent_mt.kernels.packing import padding_at_ends

from .checkpoint import DIGITS, Checkpoint, tokens_of


def forced_alignments(
    checkpoint: Checkpoint, sources: Sequence[str], targets: Sequence[str], *, max_tokens: int = 4000
) -> list[tuple[int, list[str], list[str], list[list[float]]]]:
    """The attention of a model that is forced to produce the given translations, in sentence order.

    ``fairseq-generate --print-alignment soft`` prints the alignments of the model's own translations. For given
    translations, fairseq 0.12.2 has ``--score-reference``, but that prints hard links only: with ``--print-alignment
    soft`` it fails with a TypeError. Its scorer does compute the weights, so we use the scorer here.

    Args:
        checkpoint: an encoder–decoder with attention.
        sources: space-separated tokens.
        targets: the same, and as many.
        max_tokens: the most tokens in a batch, on either side.

    Returns:
        For each sentence its number from 0, its tokens, those of its translation, and weights (T, S), both sides with
        ``</s>``; row t holds what the model attends to when it produces target token t, and sums to 1 up to
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
            words, tokens = ~padding_at_ends(source[None], padding)[0], translation["tokens"].numel()
            attention = translation["attention"][:tokens, words]
            weights[number] = attention.double().cpu().numpy().round(DIGITS).tolist()
    return [
        (number, tokens_of(source), tokens_of(target), weights[number])
        for number, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]
