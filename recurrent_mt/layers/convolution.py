"""The convolution over the positions of a sentence, and the norm over the channels of each position."""

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
        self.norm = channel_norm(output_size, wanted=layer_norm)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """Convolves.

        Args:
            grid: (B, C, L) with zeros on padding.
            padding: (B, 1, L) True on padding.

        Returns:
            (B, C', L) with zeros on padding.
        """
        return self.norm(self.convolution(grid), padding)
