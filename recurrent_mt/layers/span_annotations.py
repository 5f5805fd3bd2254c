"""Annotations of spans of neighboring tokens: where they are in a batch, and which tokens they cover."""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels.packing import Packing, rows_but_last


def unpack_spans(levels: Tensor, packing: Packing, height: int) -> Tensor:
    """Puts the spans of 1 to ``height`` + 1 tokens into a padded batch, with zeros on padding.

    Level by level: S columns for single tokens, S − 1 for spans of two, S − 2 for spans of three, and so on. Within a
    level, a span is in the column of its first token, so its place does not depend on which end is padded.

    Args:
        levels: (M, D) packed spans, level by level, and within a level packed like the tokens of shorter sentences.
        packing: the packing of the tokens.
        height: the last level, at most S − 1.

    Returns:
        (B, S', D) with S' = S + (S − 1) + … + (S − ``height``).
    """
    batch, width = packing.order.numel(), packing.width
    starts = _level_starts(width, height)
    places = []
    for level in range(height + 1):
        first_tokens = packing.rows.index_select(0, rows_but_last(packing.counts, level, packing.rows.device))
        sentence, column = first_tokens.div(width, rounding_mode="floor"), first_tokens.remainder(width)
        places.append(sentence * starts[-1] + starts[level] + column)
    padded = levels.new_zeros(batch * starts[-1], levels.size(1)).index_copy(0, torch.cat(places), levels)
    return padded.unflatten(0, (batch, starts[-1]))


def span_padding(padding_mask: Tensor, height: int) -> Tensor:
    """True where :func:`unpack_spans` puts no span: (B, S) → (B, S')."""
    width = padding_mask.size(1)
    # A sentence's tokens are contiguous: a span lies within the sentence if both its ends do.
    return torch.cat([padding_mask[:, : width - level] | padding_mask[:, level:] for level in range(height + 1)], dim=1)


def span_coverage(width: int, height: int, like: Tensor) -> Tensor:
    """The tokens that each span covers, with equal shares: (S', S).

    Args:
        width: S.
        height: the last level, at most S − 1.
        like: a tensor of the wanted device and floating-point type.
    """
    return torch.cat(
        [like.new_ones(width - level, width).triu().tril(level) / (level + 1) for level in range(height + 1)]
    )


def _level_starts(width: int, height: int) -> list[int]:
    """The first column of each level, followed by S', the number of all columns."""
    return [level * width - level * (level - 1) // 2 for level in range(height + 2)]
