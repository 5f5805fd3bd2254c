"""Sentences at half their length, and half of that, and so on: the levels of the U-Net and the V-Net."""

from __future__ import annotations

from torch import Tensor, nn


def padding_of_levels(padding: Tensor, depth: int) -> list[Tensor]:
    """Where each level has padding, from full resolution down to ``depth`` halvings.

    Of n positions, ⌈n/2⌉ are left; if n is odd, the last one is made from a single position. That depends only on the
    sentence, not on the rest of the batch, and a sentence never gets shorter than one position.

    Args:
        padding: (B, 1, L) True on padding, all of it on the right.
        depth: how often to halve.

    Returns:
        depth + 1 masks: (B, 1, L), (B, 1, ⌈L/2⌉), …
    """
    levels = [padding]
    for _ in range(depth):
        levels.append(levels[-1][:, :, ::2])
    return levels


class Upsampling(nn.Module):
    """A transposed convolution with width and stride two: each position becomes two on the level above.

    Args:
        input_size: channels of the level below.
        output_size: channels of the level above.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.convolution = nn.ConvTranspose1d(input_size, output_size, 2, stride=2)
        # Stride and width are equal, so an output has one input position: the fan-in is the number of input channels.
        nn.init.normal_(self.convolution.weight, std=(2 / input_size) ** 0.5)
        assert self.convolution.bias is not None
        nn.init.zeros_(self.convolution.bias)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """Doubles the length of a grid.

        Args:
            grid: (B, C, ⌈L/2⌉).
            padding: (B, 1, L), the level above's; a sentence of odd length drops its last half.

        Returns:
            (B, C', L) with zeros on padding.
        """
        return self.convolution(grid)[:, :, : padding.size(2)].masked_fill(padding, 0.0)
