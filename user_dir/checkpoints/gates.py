"""The gates of a grConv over sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from recurrent_mt.kernels.dilated_grconv import count_levels
from recurrent_mt.kernels.packing import Packing, make_packing, padding_at_ends
from recurrent_mt.layers.grconv import DilatedGRConv, DilatedGRConvEncoder, GRConvEncoder

from .checkpoint import DIGITS, Checkpoint, tokens_of

#: The layers of encoders that have gates: grConv as published, and dilated.
GRCONVS = (GRConvEncoder, DilatedGRConvEncoder)


def rooted_gates(checkpoint: Path, data: Path, sentences: Sequence[str], *, max_tokens: int) -> list[dict[str, Any]]:
    """The :func:`sentence_gates` of a checkpoint, each with a root if it is a pyramid.

    Raises:
        ValueError: if there is no root for a sentence, or as of :func:`sentence_gates`.
    """
    loaded = Checkpoint(checkpoint, data)
    found = sentence_gates(loaded, sentences, max_tokens=max_tokens)
    height = getattr(loaded.model.encoder.layer, "height", 0)
    longest = max(found, key=lambda record: len(record["source"]))
    if 0 < height < len(longest["source"]) - 1:
        raise ValueError(
            f"{checkpoint} has --grconv-height {height}: over sentence {longest['sentence']} of "
            f"{len(longest['source'])} tokens, its pyramid has no root to draw or to read a tree from"
        )
    return found


def sentence_gates(checkpoint: Checkpoint, sentences: Sequence[str], *, max_tokens: int = 4000) -> list[dict[str, Any]]:
    """The gates of every node over each sentence, in sentence order.

    Args:
        checkpoint: a ``grconv_encoder``.
        sentences: space-separated source tokens.
        max_tokens: the most tokens in a batch.

    Returns:
        For each sentence ``{"sentence": number from 0, "source": tokens, "gates": levels}``. The tokens are the leaves,
        ``</s>`` included. ``gates[t - 1][j]`` is [new, left, right] of the node on level t that covers the leaves j to
        j + t, rounded to five decimals. n leaves make n − 1 levels, or as many as ``--grconv-height`` allows. If a node
        has gates for each unit, these are their means.

        With ``--grconv-dilated``, there is also ``"dilated": true``, and ``gates`` are the levels of both directions:
        see :class:`recurrent_mt.evaluation.structure.gates.WindowGates`.

    Raises:
        ValueError: if the model has no such encoder, or if a sentence is too long for it.
    """
    layer = getattr(getattr(checkpoint.model, "encoder", None), "layer", None)
    if not isinstance(layer, GRCONVS):
        raise ValueError(f"{checkpoint.path} is not a grconv_encoder: no other model has such gates")
    kind = {"dilated": True} if isinstance(layer, DilatedGRConvEncoder) else {}
    gates: dict[int, list] = {}
    for batch in checkpoint.batches(sentences, max_tokens=max_tokens):
        found = batch_gates(checkpoint.model.encoder.embed_tokens, layer, batch["net_input"]["src_tokens"])
        gates |= zip(batch["id"].tolist(), found)
    return [
        {"sentence": number, "source": tokens_of(text), **kind, "gates": gates[number]}
        for number, text in enumerate(sentences)
    ]


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
