"""Sentences as a grid whose rows begin at its left edge: convolutions and pooling then treat all of them alike."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..kernels.packing import Packing, make_packing


class LeftEdge(NamedTuple):
    """The sentences of a batch as packed rows, and where those rows go when every sentence starts at position 0.

    Layers that look at neighbors, or halve a sentence, must count from the sentence's own first word. They work on a
    grid (B, C, L), with channels before positions as convolutions want them, L the length of the longest sentence, and
    zeros on padding. Layers that treat each word separately work on packed rows, which have no padding.
    """

    packing: Packing  # the packing of the original batch, padded on either side
    moved: Packing  # the packing of the same rows in a batch (B, L, …) that is padded on the right
    padding: Tensor  # (B, 1, L) True on padding of the grid

    def grid(self, rows: Tensor) -> Tensor:
        """Packed rows (N, C) as a grid (B, C, L) with zeros on padding."""
        return self.moved.unpack(rows).transpose(1, 2)

    def rows(self, grid: Tensor) -> Tensor:
        """The inverse of :meth:`grid`: (B, C, L) → (N, C), whatever is on padding."""
        return self.moved.pack(grid.transpose(1, 2))


def move_to_left_edge(padding_mask: Tensor) -> LeftEdge:
    """Plans the move of a batch that is padded on the left or on the right, where the mask (B, S) is True.

    Raises:
        ValueError: if the valid positions of a row are not contiguous, or if there are no positions.
    """
    packing = make_packing(padding_mask)
    moved = left_aligned(packing)
    return LeftEdge(packing, moved, right_padding(moved).unsqueeze(1))


def left_aligned(packing: Packing) -> Packing:
    """The same rows in a batch (B, L, …) whose sentences start at position 0; L is the longest length, at least 1."""
    width, device = max(len(packing.batch_sizes), 1), packing.rows.device
    batch_sizes = torch.tensor(packing.batch_sizes, dtype=torch.long, device=device)
    position = torch.arange(len(packing.batch_sizes), device=device).repeat_interleave(batch_sizes)
    return packing._replace(rows=packing.sorted_indices[packing.sentence] * width + position, width=width)


def right_padding(moved: Packing) -> Tensor:
    """Where the batch of :func:`left_aligned` has padding: (B, L)."""
    places = torch.ones(moved.sorted_indices.numel() * moved.width, dtype=torch.bool, device=moved.rows.device)
    return places.index_fill(0, moved.rows, False).view(-1, moved.width)


def mean_over_positions(grid: Tensor, padding: Tensor) -> Tensor:
    """The mean (B, C) of each sentence's own positions in a grid (B, C, L); zeros for an empty sentence."""
    lengths = (~padding).sum(dim=2).clamp(min=1)
    return grid.sum(dim=2) / lengths


class ChannelNorm(nn.LayerNorm):
    """Ba et al. (2016), eq. (4), for each position separately, with a gain and a bias for each channel.

    A batch norm or an instance norm, as usual when these networks read images, would make a word's values depend on the
    rest of its batch or on its sentence's length.

    Args:
        size: C.
    """

    # Not a LayerNorm as a member: checkpoints have its parameters under this module's name.
    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:  # type: ignore[override]
        """(B, C, L) and its padding (B, 1, L) → (B, C, L) with zeros on padding."""
        return super().forward(grid.transpose(1, 2)).transpose(1, 2).masked_fill(padding, 0.0)


class Convolution(nn.Module):
    """A convolution that keeps a sentence's length: beyond both ends, it reads zeros.

    Args:
        input_size: input channels.
        output_size: output channels.
        width: the kernel's width, an odd number of positions.
        groups: how many groups the channels are split into; one group per channel makes it depthwise.
        layer_norm: whether each position's output is normalized over its channels.

    Raises:
        ValueError: if the width is not a positive odd number: with an even one, it would not be clear where an output
            belongs.
    """

    def __init__(
        self, input_size: int, output_size: int, *, width: int, groups: int = 1, layer_norm: bool = False
    ) -> None:
        super().__init__()
        if width < 1 or width % 2 == 0:
            raise ValueError(f"the width of a convolution must be a positive odd number, not {width}")
        self.convolution = nn.Conv1d(input_size, output_size, width, padding=width // 2, groups=groups)
        # He et al. (2015), eq. (10): this makes up for what a rectifier takes away.
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")
        assert self.convolution.bias is not None
        nn.init.zeros_(self.convolution.bias)
        self.norm = ChannelNorm(output_size) if layer_norm else None

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C', L), both with zeros on padding."""
        convolved = self.convolution(grid)
        return convolved.masked_fill(padding, 0.0) if self.norm is None else self.norm(convolved, padding)
