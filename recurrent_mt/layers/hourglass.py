"""The U-Net of Ronneberger et al. (2015) and the V-Net of Milletari et al. (2016) over the words of a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .dropout import Dropout
from .encoder_output import EncoderOutput
from .grid import ChannelNorm, Convolution, mean_over_positions, move_to_left_edge
from .weights import projection


class HourglassEncoder(nn.Module, ABC):
    """Halves the sentence ``depth`` times and doubles it again; what comes out becomes the annotations.

    Our choices, where the papers leave it open or where a sentence differs from an image:

    - a level of n positions has ⌈n/2⌉ below it (:func:`padding_of_levels`), so every length from one word up
      works;
    - all levels have the same width (in both papers each is twice as wide as the one above);
    - a product with a bias brings the words to that width, and another brings the top to the annotations' width;
    - annotations and summary end in tanh, which gives them the range of the states that the decoder reads elsewhere;
    - the summary is tanh(W [b; a]), with b the mean over the positions of the bottleneck and a the mean of the
      annotations: this way, a decoder without attention reads all weights of the upper half;
    - no positions are added: through the bottom, each word sees far, and the zeros beyond both ends tell it where it
      is.

    Two things are not in the papers, and without them these encoders hardly learn to translate
    (docs/log/ablations.md):

    - a layer norm before each rectifier and on the words (:class:`~recurrent_mt.layers.grid.ChannelNorm`);
    - the words themselves are added to what becomes their annotations, tanh(W z + x), so that what attention finds is
      about the word in that place. Gehring et al. (2017), eq. (2), add them to what attention returns.

    Args:
        input_size: E.
        hidden_size: H, the width of the levels, of the annotations and of the summary.
        top_size: channels at full resolution, at the end.
        depth: how often the sentence is halved (4 in both papers).
        dropout: probability of dropping a unit of the bottleneck.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        top_size: int,
        depth: int = 3,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = hidden_size
        self.depth = depth
        self.words = projection(input_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.annotations = projection(top_size, hidden_size)
        self.summary = projection(2 * hidden_size, hidden_size, bias=False)

    @abstractmethod
    def descend(self, grid: Tensor, levels: list[Tensor]) -> list[Tensor]:
        """The way down, from the words (B, H, L): each level's grid, of which the last is the bottleneck (B, C, L').

        ``levels`` are the paddings, full resolution first; all grids have zeros there.
        """

    @abstractmethod
    def ascend(self, grid: Tensor, skip: Tensor, level: int, padding: Tensor) -> Tensor:
        """One level of the way up.

        Args:
            grid: what came up from the level below.
            skip: the grid of this level on the way down.
            level: which one; 0 is full resolution.
            padding: (B, 1, L), this level's.

        Returns:
            The grid of this level with zeros on padding; the last one is (B, top_size, L).
        """

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes embedded words (B, S, E); ``padding_mask`` (B, S) is True on padding."""
        batch = move_to_left_edge(padding_mask)
        levels = padding_of_levels(batch.padding, self.depth)
        words = self.norm(self.words(batch.packing.pack(embedded)))
        *skips, bottom = self.descend(batch.grid(words), levels)
        grid = self.dropout(bottom)
        bottleneck = mean_over_positions(grid, levels[-1])
        for level in reversed(range(self.depth)):
            grid = self.ascend(grid, skips[level], level, levels[level])
        rows = self.annotations(batch.rows(grid))
        annotations = torch.tanh(rows + words)
        top = mean_over_positions(batch.grid(annotations), batch.padding)
        summary = torch.tanh(self.summary(torch.cat([bottleneck, top], dim=1)))
        return EncoderOutput(batch.packing.unpack(annotations), padding_mask, summary)


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
        """(B, C, ⌈L/2⌉) and the padding (B, 1, L) of the level above → (B, C', L) with zeros on padding.

        A sentence of odd length drops its last half.
        """
        return self.convolution(grid)[:, :, : padding.size(2)].masked_fill(padding, 0.0)


class ConvolutionPair(nn.Module):
    """Two convolutions of width three, each followed by a rectifier (Ronneberger et al. 2015, section 2).

    Theirs read no padding and therefore shorten their input, which a sentence cannot afford; these keep its length.

    Args:
        input_size: input channels.
        output_size: output channels.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.first = Convolution(input_size, output_size, width=3, layer_norm=True)
        self.second = Convolution(output_size, output_size, width=3, layer_norm=True)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C', L), not negative, with zeros on padding."""
        return self.second(self.first(grid, padding).relu(), padding).relu()


class UNetEncoder(HourglassEncoder):
    """Halves the sentence ``depth`` times and doubles it again, with a skip from each level to its counterpart.

    Ronneberger et al. (2015), figure 1: on the way down, a pair of convolutions, then max pooling by two; on the way
    up, a transposed convolution, the concatenated skip, and a pair of convolutions; at the end, a product for each
    position. Dropout is at the bottom, as in theirs. :class:`HourglassEncoder` says what is not in the paper, and what
    the arguments are.
    """

    def __init__(self, input_size: int, hidden_size: int, *, depth: int = 3, dropout: float = 0.0) -> None:
        super().__init__(input_size, hidden_size, top_size=hidden_size, depth=depth, dropout=dropout)
        self.down = nn.ModuleList(ConvolutionPair(hidden_size, hidden_size) for _ in range(depth + 1))
        self.upsampling = nn.ModuleList(Upsampling(hidden_size, hidden_size) for _ in range(depth))
        self.up = nn.ModuleList(ConvolutionPair(2 * hidden_size, hidden_size) for _ in range(depth))

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
        return self.up[level](torch.cat([skip, self.upsampling[level](grid, padding)], dim=1), padding)


class ResidualStage(nn.Module):
    """Convolutions of width five whose input is added to the last one's output (Milletari et al. 2016, section 2).

    A norm and a PReLU (He et al. 2015, eq. (1), one slope per channel) follow each convolution; the last ones act on
    the sum.

    Args:
        size: channels.
        convolutions: how many, at least one.
    """

    def __init__(self, size: int, *, convolutions: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(Convolution(size, size, width=5) for _ in range(convolutions))
        self.norms = nn.ModuleList(ChannelNorm(size) for _ in range(convolutions))
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
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(input_size, output_size, 2, stride=2)
        self.norm = ChannelNorm(output_size)
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
    network. :class:`HourglassEncoder` says what is not in the paper, and what the arguments are.
    """

    def __init__(self, input_size: int, hidden_size: int, *, depth: int = 3, dropout: float = 0.0) -> None:
        super().__init__(input_size, hidden_size, top_size=2 * hidden_size, depth=depth, dropout=dropout)
        size, convolutions = hidden_size, [min(max(level, 1), 3) for level in range(depth + 1)]
        # What comes up from the bottleneck is as wide as it; from the levels above, twice as wide.
        below = [2 * size] * (depth - 1) + [size]
        self.down = nn.ModuleList(ResidualStage(size, convolutions=number) for number in convolutions)
        self.downsampling = nn.ModuleList(Downsampling(size, size) for _ in range(depth))
        self.upsampling = nn.ModuleList(Upsampling(width, size) for width in below)
        self.norms = nn.ModuleList(ChannelNorm(size) for _ in range(depth))
        self.activations = nn.ModuleList(nn.PReLU(size) for _ in range(depth))
        self.up = nn.ModuleList(ResidualStage(2 * size, convolutions=number) for number in convolutions[:-1])

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
