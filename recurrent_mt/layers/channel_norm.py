"""Layer norm over the channels of each position of a grid."""

from __future__ import annotations

from torch import Tensor, nn


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


class NoNorm(nn.Module):
    """Takes the place of a norm that is left out."""

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """The grid (B, C, L) with zeros on padding."""
        return grid.masked_fill(padding, 0.0)


def channel_norm(size: int, *, wanted: bool) -> ChannelNorm | NoNorm:
    """The norm of a grid with ``size`` channels, if wanted."""
    return ChannelNorm(size) if wanted else NoNorm()
