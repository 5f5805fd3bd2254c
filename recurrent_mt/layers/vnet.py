"""The V-Net of Milletari et al. (2016) over the words of a sentence."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .convolution import Convolution, channel_norm
from .hourglass import HourglassEncoder, Upsampling, widths_of_levels


class ResidualStage(nn.Module):
    """Convolutions of width five whose input is added to the last one's output (Milletari et al. 2016, section 2).

    A PReLU (He et al. 2015, eq. (1), one slope per channel) follows each convolution; the last one acts on the sum.

    Args:
        size: channels.
        convolutions: how many, at least one.
        layer_norm: whether there is a norm before each PReLU; the last one is of the sum.
    """

    def __init__(self, size: int, *, convolutions: int, layer_norm: bool) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(Convolution(size, size, width=5) for _ in range(convolutions))
        self.norms = nn.ModuleList(channel_norm(size, wanted=layer_norm) for _ in range(convolutions))
        self.activations = nn.ModuleList(nn.PReLU(size) for _ in range(convolutions))

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C, L) with zeros on padding."""
        hidden = grid
        for number, (convolution, norm, activation) in enumerate(
            zip(self.convolutions, self.norms, self.activations), start=1
        ):
            hidden = convolution(hidden, padding)
            if number == len(self.convolutions):
                hidden = hidden + grid
            hidden = activation(norm(hidden, padding))
        return hidden


class Downsampling(nn.Module):
    """A convolution with width and stride two instead of pooling, and a PReLU (Milletari et al. 2016, section 2).

    A last position without a partner is paired with a zero.

    Args:
        input_size: channels of the level above.
        output_size: channels of the level below.
        layer_norm: whether there is a norm before the PReLU.
    """

    def __init__(self, input_size: int, output_size: int, *, layer_norm: bool) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(input_size, output_size, 2, stride=2)
        self.norm = channel_norm(output_size, wanted=layer_norm)
        self.activation = nn.PReLU(output_size)
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")
        assert self.convolution.bias is not None
        nn.init.zeros_(self.convolution.bias)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and the padding (B, 1, ⌈L/2⌉) of the level below → (B, C', ⌈L/2⌉) with zeros on padding."""
        even = F.pad(grid, (0, grid.size(2) % 2))
        return self.activation(self.norm(self.convolution(even), padding))


class VNetEncoder(HourglassEncoder):
    """Residual stages at full, half, quarter, … length and back, with a skip from each level to its counterpart.

    Milletari et al. (2016), section 2 and figure 2. On the way down, stages and strided convolutions; on the way up, a
    transposed convolution with a PReLU, to which the skip is concatenated, then a stage as wide as both; at the end, a
    product for each position. A stage at level l has min(max(l, 1), 3) convolutions, as in the authors' released
    network. :class:`~recurrent_mt.layers.hourglass.HourglassEncoder` says what is not in the paper.

    Args:
        input_size: E.
        hidden_size: H, the width of the first level, of the annotations and of the summary.
        depth: how often the sentence is halved (4 in the paper).
        growth: how many times wider each level is than the one above (2 in the paper).
        layer_norm: whether there are norms before each PReLU and on the words (not in the paper).
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
        layer_norm: bool = True,
        word_residual: bool = True,
        dropout: float = 0.0,
    ) -> None:
        widths = widths_of_levels("V-Net", hidden_size, depth=depth, growth=growth)
        super().__init__(
            input_size,
            hidden_size,
            top_size=2 * hidden_size,
            bottom_size=widths[-1],
            depth=depth,
            layer_norm=layer_norm,
            word_residual=word_residual,
            dropout=dropout,
        )
        counts = [min(max(level, 1), 3) for level in range(depth + 1)]
        raised = [2 * width for width in widths[:-1]] + widths[-1:]
        self.down = nn.ModuleList(
            ResidualStage(width, convolutions=count, layer_norm=layer_norm) for width, count in zip(widths, counts)
        )
        self.downsampling = nn.ModuleList(
            Downsampling(above, below, layer_norm=layer_norm) for above, below in pairwise(widths)
        )
        self.upsampling = nn.ModuleList(Upsampling(below, above) for above, below in zip(widths, raised[1:]))
        self.norms = nn.ModuleList(channel_norm(width, wanted=layer_norm) for width in widths[:-1])
        self.activations = nn.ModuleList(nn.PReLU(width) for width in widths[:-1])
        self.up = nn.ModuleList(
            ResidualStage(width, convolutions=count, layer_norm=layer_norm) for width, count in zip(raised[:-1], counts)
        )

    def descend(self, grid: Tensor, levels: list[Tensor]) -> list[Tensor]:
        """Stages with strided convolutions between them; the last stage is the bottleneck."""
        reached = [self.down[0](grid, levels[0])]
        for downsampling, stage, padding in zip(self.downsampling, self.down[1:], levels[1:]):
            reached.append(stage(downsampling(reached[-1], padding), padding))
        return reached

    def ascend(self, grid: Tensor, skip: Tensor, level: int, padding: Tensor) -> Tensor:
        """The transposed convolution, a PReLU, the skip concatenated to them, and a stage."""
        raised = self.activations[level](self.norms[level](self.upsampling[level](grid, padding), padding))
        return self.up[level](torch.cat([raised, skip], dim=1), padding)
