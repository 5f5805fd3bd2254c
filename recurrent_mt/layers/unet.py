"""The U-Net of Ronneberger et al. (2015) over the words of a sentence."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .convolution import Convolution
from .hourglass import HourglassEncoder, Upsampling, widths_of_levels


class ConvolutionPair(nn.Module):
    """Two convolutions of width three, each followed by a rectifier (Ronneberger et al. 2015, section 2).

    Theirs read no padding and therefore shorten their input, which a sentence cannot afford; these keep its length.

    Args:
        input_size: input channels.
        output_size: output channels.
        layer_norm: whether there is a norm before each rectifier.
    """

    def __init__(self, input_size: int, output_size: int, *, layer_norm: bool) -> None:
        super().__init__()
        self.first = Convolution(input_size, output_size, width=3, layer_norm=layer_norm)
        self.second = Convolution(output_size, output_size, width=3, layer_norm=layer_norm)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C', L), not negative, with zeros on padding."""
        return self.second(self.first(grid, padding).relu(), padding).relu()


class AttentionGate(nn.Module):
    """How much of each position a skip lets through: Oktay et al. (2018), section 2.1, eqs. (1) and (2).

    With x a position of the skip and g the position below that covers it::

        α = σ(ψᵀ ReLU(W_x x + W_g g + b_g) + b_ψ)    x̂ = α x

    They bring x down to the grid of g and interpolate α back up. Interpolation would mix a sentence's last word with
    what comes after it and blur the coefficients of neighbors; here, W_g g is repeated for the two positions it covers.

    Args:
        size: channels of x and of the inner sum.
        gating_size: channels of g.
    """

    def __init__(self, size: int, gating_size: int) -> None:
        super().__init__()
        self.skip = nn.Conv1d(size, size, 1, bias=False)
        self.gating = nn.Conv1d(gating_size, size, 1)
        self.score = nn.Conv1d(size, 1, 1)

    def coefficients(self, skip: Tensor, below: Tensor) -> Tensor:
        """α (B, 1, L) for a skip (B, C, L) and the level below it (B, C', ⌈L/2⌉)."""
        gating = self.gating(below).repeat_interleave(2, dim=2)[:, :, : skip.size(2)]
        return self.score((self.skip(skip) + gating).relu()).sigmoid()

    def forward(self, skip: Tensor, below: Tensor) -> Tensor:
        """Returns the skip connection (B, C, L), gated."""
        return skip * self.coefficients(skip, below)


class UNetEncoder(HourglassEncoder):
    """Halves the sentence ``depth`` times and doubles it again, with a skip from each level to its counterpart.

    Ronneberger et al. (2015), figure 1: on the way down, a pair of convolutions, then max pooling by two; on the way
    up, a transposed convolution, the concatenated skip, and a pair of convolutions; at the end, a product for each
    position. Dropout is at the bottom, as in theirs. :class:`~recurrent_mt.layers.hourglass.HourglassEncoder` says what
    is not in the paper.

    Args:
        input_size: E.
        hidden_size: H, the width of the first level, of the annotations and of the summary.
        depth: how often the sentence is halved (4 in the paper).
        growth: how many times wider each level is than the one above (2 in the paper).
        attention_gates: whether the skips go through an :class:`AttentionGate`.
        layer_norm: whether there are norms before each rectifier and on the words (not in the paper).
        word_residual: whether the words are added to what becomes their annotations (not in the paper).
        dropout: probability of dropping a unit of the bottleneck.

    Raises:
        ValueError: if depth or growth is below one.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        depth: int = 3,
        growth: int = 1,
        attention_gates: bool = False,
        layer_norm: bool = True,
        word_residual: bool = True,
        dropout: float = 0.0,
    ) -> None:
        widths = widths_of_levels("U-Net", hidden_size, depth=depth, growth=growth)
        super().__init__(
            input_size,
            hidden_size,
            top_size=hidden_size,
            bottom_size=widths[-1],
            depth=depth,
            layer_norm=layer_norm,
            word_residual=word_residual,
            dropout=dropout,
        )
        self.down = nn.ModuleList(
            ConvolutionPair(above, below, layer_norm=layer_norm) for above, below in pairwise([hidden_size, *widths])
        )
        self.upsampling = nn.ModuleList(Upsampling(below, above) for above, below in pairwise(widths))
        self.up = nn.ModuleList(ConvolutionPair(2 * width, width, layer_norm=layer_norm) for width in widths[:-1])
        gates = (AttentionGate(above, below) for above, below in pairwise(widths))
        self.gates = nn.ModuleList(gates) if attention_gates else None

    def descend(self, grid: Tensor, levels: list[Tensor]) -> list[Tensor]:
        """Pairs of convolutions with pooling between them; the last pair is the bottleneck."""
        reached: list[Tensor] = []
        for pair, padding in zip(self.down, levels):
            # A rectified unit is never below the zeros of padding, so padding never wins over a word.
            below = F.max_pool1d(reached[-1], 2, ceil_mode=True) if reached else grid
            reached.append(pair(below, padding))
        return reached

    def ascend(self, grid: Tensor, skip: Tensor, level: int, padding: Tensor) -> Tensor:
        """The transposed convolution, the skip concatenated to it, and a pair of convolutions."""
        if self.gates is not None:
            skip = self.gates[level](skip, grid)
        return self.up[level](torch.cat([skip, self.upsampling[level](grid, padding)], dim=1), padding)
