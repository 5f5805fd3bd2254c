"""The V-Net of Milletari et al. (2016) over the words of a sentence."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .convolution import Convolution
from .encoder_output import EncoderOutput
from .left_edge import mean_over_positions, move_to_left_edge
from .projection import projection
from .resolution import Upsampling, padding_of_levels


class ResidualStage(nn.Module):
    """Convolutions of width five whose input is added to the last one's output (Milletari et al. 2016, section 2).

    A PReLU (He et al. 2015, eq. (1), a slope a channel) follows each convolution; the last one's acts on the sum.

    Args:
        size: channels.
        convolutions: how many, at least one.
    """

    def __init__(self, size: int, *, convolutions: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(Convolution(size, size, width=5) for _ in range(convolutions))
        self.activations = nn.ModuleList(nn.PReLU(size) for _ in range(convolutions))

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C, L) with zeros on padding."""
        hidden = grid
        for index, (convolution, activation) in enumerate(zip(self.convolutions, self.activations)):
            hidden = convolution(hidden, padding)
            hidden = activation(hidden + grid if index == len(self.convolutions) - 1 else hidden)
        return hidden


class Downsampling(nn.Module):
    """A convolution of width and stride two in place of pooling, and a PReLU (Milletari et al. 2016, section 2).

    A last position without a partner is read with a zero beside it.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(input_size, output_size, 2, stride=2)
        self.activation = nn.PReLU(output_size)
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")
        nn.init.zeros_(self.convolution.bias)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and the padding (B, 1, ⌈L/2⌉) of the level below → (B, C', ⌈L/2⌉) with zeros on padding."""
        even = F.pad(grid, (0, grid.size(2) % 2))
        return self.activation(self.convolution(even).masked_fill(padding, 0.0))


class VNetEncoder(nn.Module):
    """Residual stages at full, half, quarter … length and back, with a skip from each level to its counterpart.

    Milletari et al. (2016), section 2 and figure 2. On the way down stages and strided convolutions; on the way up a
    transposed convolution with a PReLU, to which the skip is concatenated, then a stage as wide as both; at the end a
    product for each position. A stage at level l has min(max(l, 1), 3) convolutions, as in the authors' released
    network. What they leave open, or what a sentence needs otherwise, is decided as in
    :class:`~user_dir.layers.unet.UNetEncoder`: ⌈n/2⌉ positions below n, words brought to the first level's width by a
    product, annotations and summary through tanh, the summary made of the means of the bottleneck and of the
    annotations, dropout at the bottom, no positions added.

    Args:
        input_size: E.
        hidden_size: H, the width of the first level, of the annotations and of the summary.
        depth: how often the sentence is halved (4 in the paper).
        growth: how many times wider each level is than the one above (2 in the paper).
        dropout: probability of dropping a unit of the bottleneck.

    Raises:
        ValueError: if depth or growth is below one.
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, depth: int = 3, growth: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if depth < 1 or growth < 1:
            raise ValueError(f"depth and growth of a V-Net must be at least 1, not {depth} and {growth}")
        self.annotation_size = self.summary_size = hidden_size
        self.depth = depth
        widths = [hidden_size * growth**level for level in range(depth + 1)]
        counts = [min(max(level, 1), 3) for level in range(depth + 1)]
        raised = [2 * width for width in widths[:-1]] + widths[-1:]
        self.words = projection(input_size, hidden_size)
        self.down = nn.ModuleList(ResidualStage(width, convolutions=n) for width, n in zip(widths, counts))
        self.downsampling = nn.ModuleList(Downsampling(above, below) for above, below in pairwise(widths))
        self.upsampling = nn.ModuleList(Upsampling(below, above) for above, below in zip(widths, raised[1:]))
        self.activations = nn.ModuleList(nn.PReLU(width) for width in widths[:-1])
        self.up = nn.ModuleList(ResidualStage(width, convolutions=n) for width, n in zip(raised[:-1], counts))
        self.dropout = nn.Dropout(dropout)
        self.annotations = projection(2 * hidden_size, hidden_size)
        self.summary = projection(widths[-1] + hidden_size, hidden_size, bias=False)

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        batch = move_to_left_edge(padding_mask)
        levels = padding_of_levels(batch.padding, self.depth)
        grid = self.down[0](batch.grid(self.words(batch.packing.pack(embedded))), levels[0])
        skips = []
        for level in range(1, self.depth + 1):
            skips.append(grid)
            grid = self.down[level](self.downsampling[level - 1](grid, levels[level]), levels[level])
        grid = self.dropout(grid)
        bottleneck = mean_over_positions(grid, levels[-1])
        for level in reversed(range(self.depth)):
            raised = self.activations[level](self.upsampling[level](grid, levels[level]))
            grid = self.up[level](torch.cat([raised, skips[level]], dim=1), levels[level])
        annotations = torch.tanh(self.annotations(batch.rows(grid)))
        top = mean_over_positions(batch.grid(annotations), batch.padding)
        summary = torch.tanh(self.summary(torch.cat([bottleneck, top], dim=1)))
        return EncoderOutput(batch.packing.unpack(annotations), padding_mask, summary)
