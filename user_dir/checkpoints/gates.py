"""The gates of grConv's nodes, sentence by sentence: which nodes merge, and which pass on a child."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from recurrent_mt.kernels.packing import Packing, make_packing, padding_at_ends
from recurrent_mt.layers.dilated_grconv import DilatedGRConvEncoder
from recurrent_mt.layers.grconv import GRConvEncoder

from .checkpoint import Checkpoint, tokens_of

#: How many decimals of a gate are kept.
DIGITS = 5


def sentence_gates(checkpoint: Checkpoint, sentences: Sequence[str], *, max_tokens: int = 4000) -> list[dict[str, Any]]:
    """The gates of every node in each sentence's pyramid, in sentence order.

    Args:
        checkpoint: a ``grconv_encoder``.
        sentences: space-separated source tokens.
        max_tokens: the most tokens in a batch.

    Returns:
        For each sentence ``{"sentence": number from 0, "source": tokens, "gates": levels}``. The tokens are the leaves,
        ``</s>`` included. ``gates[t - 1][j]`` is [new, left, right] of the node on level t that covers the leaves j to
        j + t, rounded to five decimals. n leaves make n − 1 levels, or as many as ``--grconv-height`` allows. If a node
        has gates for each unit, these are their means.

    Raises:
        ValueError: if the model has no such encoder, or if a sentence is too long for it.
    """
    layer = getattr(getattr(checkpoint.model, "encoder", None), "layer", None)
    if not isinstance(layer, GRConvEncoder):
        dilated = isinstance(layer, DilatedGRConvEncoder)
        reason = "has --grconv-dilated, which is no pyramid" if dilated else "is not a grconv_encoder"
        raise ValueError(f"{checkpoint.path} {reason}: no other model has a pyramid of gates")
    pyramids: dict[int, list[list[list[float]]]] = {}
    for batch in checkpoint.batches(sentences, max_tokens=max_tokens):
        levels = batch_gates(checkpoint.model.encoder.embed_tokens, layer, batch["net_input"]["src_tokens"])
        pyramids |= zip(batch["id"].tolist(), levels)
    return [
        {"sentence": number, "source": tokens_of(text), "gates": pyramids[number]}
        for number, text in enumerate(sentences)
    ]


@torch.no_grad()
def batch_gates(embedding: torch.nn.Embedding, layer: GRConvEncoder, tokens: Tensor) -> Iterator[list]:
    """Yields the levels of each sentence of a batch, in the batch's order.

    Args:
        embedding: the encoder's; it knows which token is padding.
        layer: the encoder's.
        tokens: (B, S), padded on either side.
    """
    assert embedding.padding_idx is not None
    packing = make_packing(padding_at_ends(tokens, embedding.padding_idx))
    _, pyramid = layer.pyramid(embedding(tokens), packing)
    return unpack_gates(pyramid.gates, packing, height=layer.height)


def unpack_gates(gates: Tensor, packing: Packing, *, height: int = 0) -> Iterator[list[list[list[float]]]]:
    """Yields the levels of each sentence, in the batch's order.

    Args:
        gates: (nodes, 3), as returned by :func:`recurrent_mt.kernels.grconv.grconv`.
        packing: the packing of the leaves.
        height: the last level; 0: the level of the roots.
    """
    values = gates.double().cpu().numpy().round(DIGITS).tolist()
    counts = packing.counts
    above = min(height + 1, len(counts)) if height else len(counts)
    # first[t - 1][j]: the row of the first sentence's node on level t at position j.
    first: list[list[int]] = []
    row = 0
    for level in range(1, above):
        first.append([])
        for running in counts[level:]:
            first[-1].append(row)
            row += running
    for rank in packing.rank.tolist():
        leaves = sum(count > rank for count in counts)
        levels = range(1, min(leaves, above))
        yield [[values[start + rank] for start in first[level - 1][: leaves - level]] for level in levels]
