"""The U-Net of Ronneberger et al. (2015) over the words of a sentence."""

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


class ConvolutionPair(nn.Module):
    """Two convolutions of width three, each followed by a rectifier (Ronneberger et al. 2015, section 2).

    Theirs read no padding and so shorten their input, which a sentence cannot afford: these keep its length.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.first = Convolution(input_size, output_size, width=3)
        self.second = Convolution(output_size, output_size, width=3)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C', L), not negative, with zeros on padding."""
        return self.second(self.first(grid, padding).relu(), padding).relu()


class AttentionGate(nn.Module):
    """How much of each position a skip lets through: Oktay et al. (2018), section 2.1, eqs. (1) and (2).

    With x a position of the skip and g the position below that covers it::

        α = σ(ψᵀ ReLU(W_x x + W_g g + b_g) + b_ψ)    x̂ = α x

    They bring x down to the grid of g and interpolate α back up. An interpolation would mix a sentence's last word with
    what lies behind it, and blur neighbours' coefficients: here W_g g is repeated for the two positions that it covers.

    Args:
        size: channels of x, and of the sum inside.
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
        """The gated skip (B, C, L)."""
        return skip * self.coefficients(skip, below)


class UNetEncoder(nn.Module):
    """Halves the sentence ``depth`` times and doubles it again, with a skip from each level to its counterpart.

    Ronneberger et al. (2015), figure 1: on the way down a pair of convolutions, then max pooling by two; on the way up
    a transposed convolution, the concatenated skip, and a pair of convolutions; at the end a product for each position.
    Dropout stands at the bottom, as theirs does. What they leave open, or what a sentence needs otherwise:

    - a level of n positions has ⌈n/2⌉ below it (:func:`~user_dir.layers.resolution.padding_of_levels`), so every length
      from one word on will do;
    - the words are brought to the first level's width by a product with a bias;
    - annotations and summary end in tanh, the range of the states that the decoder reads elsewhere;
    - the summary is tanh(W [b; a]), with b the mean over the positions of the bottleneck and a the mean of the
      annotations: a decoder without attention then leaves no weight of the upper half unread;
    - no positions are added: through the bottom each word sees far, and the zeros beyond both ends tell its place.

    Args:
        input_size: E.
        hidden_size: H, the width of the first level, of the annotations and of the summary.
        depth: how often the sentence is halved (4 in the paper).
        growth: how many times wider each level is than the one above (2 in the paper).
        attention_gates: whether the skips pass an :class:`AttentionGate`.
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
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if depth < 1 or growth < 1:
            raise ValueError(f"depth and growth of a U-Net must be at least 1, not {depth} and {growth}")
        self.annotation_size = self.summary_size = hidden_size
        self.depth = depth
        widths = [hidden_size * growth**level for level in range(depth + 1)]
        self.words = projection(input_size, hidden_size)
        self.down = nn.ModuleList(
            ConvolutionPair(above, below) for above, below in zip([hidden_size, *widths[:-2]], widths[:-1])
        )
        self.bottom = ConvolutionPair(widths[-2], widths[-1])
        self.upsampling = nn.ModuleList(Upsampling(below, above) for above, below in pairwise(widths))
        self.up = nn.ModuleList(ConvolutionPair(2 * width, width) for width in widths[:-1])
        gates = (AttentionGate(above, below) for above, below in pairwise(widths))
        self.gates = nn.ModuleList(gates) if attention_gates else None
        self.dropout = nn.Dropout(dropout)
        self.annotations = projection(hidden_size, hidden_size)
        self.summary = projection(widths[-1] + hidden_size, hidden_size, bias=False)

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        batch = move_to_left_edge(padding_mask)
        levels = padding_of_levels(batch.padding, self.depth)
        grid, skips = batch.grid(self.words(batch.packing.pack(embedded))), []
        for pair, padding in zip(self.down, levels):
            skips.append(pair(grid, padding))
            # A rectified unit is never below the zeros of padding: they win over no word.
            grid = F.max_pool1d(skips[-1], 2, ceil_mode=True)
        grid = self.dropout(self.bottom(grid, levels[-1]))
        bottleneck = mean_over_positions(grid, levels[-1])
        for level in reversed(range(self.depth)):
            skip = skips[level] if self.gates is None else self.gates[level](skips[level], grid)
            raised = self.upsampling[level](grid, levels[level])
            grid = self.up[level](torch.cat([skip, raised], dim=1), levels[level])
        annotations = torch.tanh(self.annotations(batch.rows(grid)))
        top = mean_over_positions(batch.grid(annotations), batch.padding)
        summary = torch.tanh(self.summary(torch.cat([bottleneck, top], dim=1)))
        return EncoderOutput(batch.packing.unpack(annotations), padding_mask, summary)
