"""A batch whose sentences begin at its left edge, so that convolutions and pooling treat all of them alike."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..kernels.packing import Packing, make_packing


class LeftEdge(NamedTuple):
    """The sentences of a batch as packed rows, and where those rows go when every sentence starts at position 0.

    Layers that look at neighbors, or halve a sentence, must count from the sentence's own first word. They work on a
    grid (B, C, L), with channels before positions as convolutions want them, L the length of the longest sentence, and
    zeros on padding. Layers that treat each word separately work on packed rows, which have no padding.

    Attributes:
        packing: the packing of the original batch, padded on either side.
        moved: the packing of the same rows in a batch (B, L, …) that is padded on the right.
        padding: (B, 1, L) True on padding of the grid.
    """

    packing: Packing
    moved: Packing
    padding: Tensor

    def grid(self, rows: Tensor) -> Tensor:
        """Packed rows (N, C) as a grid (B, C, L) with zeros on padding."""
        return self.moved.unpack(rows).transpose(1, 2)

    def rows(self, grid: Tensor) -> Tensor:
        """The inverse of :meth:`grid`: (B, C, L) → (N, C), whatever is on padding."""
        return self.moved.pack(grid.transpose(1, 2))


def move_to_left_edge(padding_mask: Tensor) -> LeftEdge:
    """Plans the move of a batch that is padded on the left or on the right.

    Args:
        padding_mask: (B, S) True on padding.

    Raises:
        ValueError: if the valid positions of a row are not contiguous, or if there are no positions.
    """
    packing = make_packing(padding_mask)
    moved = left_aligned(packing)
    return LeftEdge(packing, moved, right_padding(moved).unsqueeze(1))


def left_aligned(packing: Packing) -> Packing:
    """The same rows in a batch (B, L, …) whose sentences start at position 0; L is the longest length, at least 1."""
    width, device = max(len(packing.counts), 1), packing.rows.device
    counts = torch.tensor(packing.counts, dtype=torch.long, device=device)
    position = torch.arange(len(packing.counts), device=device).repeat_interleave(counts)
    return packing._replace(rows=packing.order[packing.sentence] * width + position, width=width)


def right_padding(moved: Packing) -> Tensor:
    """Where the batch of :func:`left_aligned` has padding: (B, L)."""
    places = torch.ones(moved.order.numel() * moved.width, dtype=torch.bool, device=moved.rows.device)
    return places.index_fill(0, moved.rows, False).view(-1, moved.width)


def mean_over_positions(grid: Tensor, padding: Tensor) -> Tensor:
    """The mean of each sentence's own positions; zeros for an empty sentence.

    Args:
        grid: (B, C, L) with zeros on padding.
        padding: (B, 1, L) True on padding.

    Returns:
        (B, C).
    """
    lengths = (~padding).sum(dim=2).clamp(min=1)
    return grid.sum(dim=2) / lengths
