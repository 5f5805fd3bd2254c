"""What is read out of a trained model: grConv's gates, the alignments of given translations, arithmetic per word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import torch
from fairseq.sequence_scorer import SequenceScorer
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from recurrent_mt.kernels.dilated_grconv import count_levels
from recurrent_mt.kernels.dispatch import using
from recurrent_mt.kernels.packing import Packing, make_packing, padding_at_ends
from recurrent_mt.layers.grconv import DilatedGRConv, DilatedGRConvEncoder, GRConvEncoder, level_starts

from .checkpoint import Checkpoint, tokens_of

#: How many decimals of a gate or a weight are kept.
DIGITS = 5
#: The layers of encoders that have gates: grConv as published, and dilated.
GRCONVS = (GRConvEncoder, DilatedGRConvEncoder)


def sentence_gates(
    checkpoint: Checkpoint, sentences: Sequence[str], targets: Sequence[str] | None = None, *, max_tokens: int = 4000
) -> list[dict[str, Any]]:
    """The gates of every node over each sentence, in sentence order.

    Args:
        checkpoint: a ``grconv_encoder``.
        sentences: space-separated source tokens.
        targets: their translations, as many; None to leave out attention.
        max_tokens: the most tokens in a batch.

    Returns:
        For each sentence ``{"sentence": number from 0, "source": tokens, "gates": levels}``. The tokens are the leaves,
        ``</s>`` included. ``gates[t - 1][j]`` is [new, left, right] of the node on level t that covers the leaves j to
        j + t, rounded to five decimals. n leaves make n − 1 levels, or as many as ``--grconv-height`` allows. If a node
        has gates for each unit, these are their means.

        With targets, there is also ``"attention"``: see :func:`phrase_attention`.

        With ``--grconv-dilated``, there is also ``"dilated": true``, and ``gates`` are the levels of both directions:
        see :class:`recurrent_mt.evaluation.structure.gates.WindowGates`.

    Raises:
        ValueError: if the model has no such encoder, if a sentence is too long for it, or if there are targets but no
            attention over all phrases.
    """
    layer = getattr(getattr(checkpoint.model, "encoder", None), "layer", None)
    if not isinstance(layer, GRCONVS):
        raise ValueError(f"{checkpoint.path} is not a grconv_encoder: no other model has such gates")
    kind = {"dilated": True} if isinstance(layer, DilatedGRConvEncoder) else {}
    gates: dict[int, list] = {}
    for batch in checkpoint.batches(sentences, max_tokens=max_tokens):
        found = batch_gates(checkpoint.model.encoder.embed_tokens, layer, batch["net_input"]["src_tokens"])
        gates |= zip(batch["id"].tolist(), found)
    records = [
        {"sentence": number, "source": tokens_of(text), **kind, "gates": gates[number]}
        for number, text in enumerate(sentences)
    ]
    if targets is not None:
        attention = phrase_attention(checkpoint, sentences, targets, max_tokens=max_tokens)
        return [{**record, "attention": levels} for record, levels in zip(records, attention)]
    return records


@torch.no_grad()
def batch_gates(
    embedding: torch.nn.Embedding, layer: GRConvEncoder | DilatedGRConvEncoder, tokens: Tensor
) -> Iterator[list]:
    """Yields the levels of each sentence of a batch, in its order; of a dilated grConv those of both directions.

    Args:
        embedding: the encoder's; it knows which token is padding.
        layer: the encoder's.
        tokens: (B, S), padded on either side.
    """
    assert embedding.padding_idx is not None
    packing = make_packing(padding_at_ends(tokens, embedding.padding_idx))
    if isinstance(layer, DilatedGRConvEncoder):
        outputs = layer.merge(embedding(tokens), packing)
        height = cast("DilatedGRConv", layer.directions[0]).height
        distances = [2**level for level in range(count_levels(packing.batch_sizes, height))]
        forward, backward = (unpack_gates(output.gates, packing, distances) for output in outputs)
        yield from ([levels, [reverse_level(level) for level in other]] for levels, other in zip(forward, backward))
        return
    _, pyramid = layer.pyramid(embedding(tokens), packing)
    above = min(layer.height + 1, len(packing.batch_sizes)) if layer.height else len(packing.batch_sizes)
    yield from unpack_gates(pyramid.gates, packing, range(1, above))


def reverse_level(level: list[list[float]]) -> list[list[float]]:
    """The nodes of a reversed sentence in the order of the sentence itself, where left and right change places."""
    return [[new, right, left] for new, left, right in reversed(level)]


def unpack_gates(gates: Tensor, packing: Packing, distances: Sequence[int]) -> Iterator[list[list[list[float]]]]:
    """Yields the levels of each sentence, in the batch's order.

    Args:
        gates: (nodes, 3), as returned by :func:`recurrent_mt.kernels.grconv.grconv` or
            :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv`.
        packing: the packing of the leaves.
        distances: of each level, how many nodes fewer it has than a sentence has leaves; increasing.
    """
    values = gates.double().cpu().numpy().round(DIGITS).tolist()
    counts = packing.batch_sizes
    # first[t - 1][j]: the row of the first sentence's node on level t at position j.
    first: list[list[int]] = []
    row = 0
    for distance in distances:
        first.append([])
        for running in counts[distance:]:
            first[-1].append(row)
            row += running
    for rank in packing.unsorted_indices.tolist():
        leaves = sum(count > rank for count in counts)
        own = [(distance, starts) for distance, starts in zip(distances, first) if distance < leaves]
        yield [[values[start + rank] for start in starts[: leaves - distance]] for distance, starts in own]


@torch.no_grad()
def phrase_attention(
    checkpoint: Checkpoint, sentences: Sequence[str], targets: Sequence[str], *, max_tokens: int = 4000
) -> list[list[list[float]]]:
    """The attention that each phrase of a sentence gets while given translations are produced, in sentence order.

    Args:
        checkpoint: a ``grconv_encoder`` whose attention reads all nodes of the pyramid (``--grconv-annotations
            pyramid``).
        sentences: space-separated source tokens.
        targets: the same, and as many.
        max_tokens: the most tokens in a batch, on either side.

    Returns:
        The levels of each sentence, without the leaves: ``[t - 1][j]`` is what the node over the leaves j to j + t
        gets, summed over the target's tokens but ``</s>``.

    Raises:
        ValueError: if attention does not read every node of every sentence, if there are not as many targets as
            sentences, or if one is too long.
    """
    layer = checkpoint.model.encoder.layer
    height = getattr(layer, "annotation_height", 0)
    if not (height and checkpoint.model.decoder.layer.first.has_attention):
        raise ValueError(f"{checkpoint.path} has no attention over phrases: train with --grconv-annotations pyramid")
    for number, sentence in enumerate(sentences):
        if (leaves := len(tokens_of(sentence))) > height + 1:
            raise ValueError(
                f"{checkpoint.path} has --grconv-annotation-height {height}: over sentence {number} of {leaves} "
                "tokens, attention does not read all phrases"
            )
    levels: dict[int, list[list[float]]] = {}
    for batch in checkpoint.batches(sentences, targets, max_tokens=max_tokens):
        tokens, previous = batch["net_input"]["src_tokens"], batch["net_input"]["prev_output_tokens"]
        # Without coverage, the decoder leaves attention where it is: on phrases.
        encoded = checkpoint.model.encoder(tokens)._replace(coverage=None)
        _, extra = checkpoint.model.decoder(previous, encoded)
        words = batch["target"].ne(checkpoint.task.target_dictionary.pad())
        words &= batch["target"].ne(checkpoint.task.target_dictionary.eos())
        received = (extra["attn"][0] * words.unsqueeze(2)).sum(dim=1).double().tolist()
        starts = level_starts(tokens.size(1), tokens.size(1) - 1)
        for number, row in zip(batch["id"].tolist(), received):
            leaves = len(tokens_of(sentences[number]))
            levels[number] = [row[starts[level] : starts[level] + leaves - level] for level in range(1, leaves)]
    return [levels[number] for number in range(len(sentences))]


def forced_alignments(
    checkpoint: Checkpoint, sources: Sequence[str], targets: Sequence[str], *, max_tokens: int = 4000
) -> list[dict[str, Any]]:
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


Shape = Sequence[int]


@dataclass(frozen=True)
class Operations:
    """What was counted.

    Attributes:
        total: floating-point operations in matrix products and convolutions, two for each multiplication with its
            addition; elementwise work is left out.
        sentences: how many were scored, one at a time, so that nothing was counted on padding.
        target_tokens: how many they have, ends of sentences included.
    """

    total: int
    sentences: int
    target_tokens: int

    @property
    def per_token(self) -> float:
        """Operations per target token, including the encoder's share."""
        return self.total / self.target_tokens


def count_operations(checkpoint: Checkpoint, sources: Sequence[str], targets: Sequence[str]) -> Operations:
    """Counts a forward pass over each pair, with the target given.

    Args:
        checkpoint: any fairseq encoder–decoder.
        sources: space-separated tokens.
        targets: the same, and as many.

    Raises:
        ValueError: if there is no pair, if there are not as many targets as sources, or if a sentence is too long.
    """
    if not sources:
        raise ValueError("there are no sentences to count operations on")
    total = tokens = 0
    # oneDNN's fused LSTM would hide the products of fairseq's lstm, and the native kernels those of our models.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), using("packed"):
        for source, target in zip(sources, targets, strict=True):
            longest = max(map(len, (source.split(), target.split()))) + 1
            for batch in checkpoint.batches([source], [target], max_tokens=longest):
                with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
                    output = checkpoint.model(**batch["net_input"])
                    if getattr(checkpoint.model.decoder, "adaptive_softmax", None) is not None:
                        # Then the scores of words are no part of the model's output.
                        checkpoint.model.get_normalized_probs(output, log_probs=True)
                total += counter.get_total_flops()
                tokens += batch["ntokens"]
    return Operations(total, len(sources), tokens)


def matrix_product(_: Shape, left: Shape, right: Shape, *rest: Any, **keywords: Any) -> int:
    """Counts ``sums.addmm_(left, right)``."""
    return 2 * prod(left) * right[-1]


def matrix_vector_product(matrix: Shape, vector: Shape, *rest: Any, **keywords: Any) -> int:
    """Counts ``matrix @ vector``."""
    return 2 * prod(matrix)


def scaled_dot_product_attention(query: Shape, key: Shape, value: Shape, *rest: Any, **keywords: Any) -> int:
    """Scores and their weighted sum; (B, heads, T, d), (B, heads, S, d), (B, heads, S, d')."""
    return 2 * prod(query) * key[-2] + 2 * prod(query[:-1]) * prod(value[-2:])


def time_first_convolution(inputs: Shape, weights: Shape, *rest: Any, out_shape: Shape, **keywords: Any) -> int:
    """Counts fairseq's ``conv_tbc``; (S, B, C), (K, C, O), output (S', B, O)."""
    return 2 * prod(out_shape) * prod(weights[:2])


#: What torch's own counter misses.
FORMULAS: dict[Any, Callable[..., int]] = {
    torch.ops.aten.addmm_: matrix_product,
    torch.ops.aten.mv: matrix_vector_product,
    torch.ops.aten.conv_tbc: time_first_convolution,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: scaled_dot_product_attention,
}
