"""What the U-Net and the V-Net share: words go into a grid that is halved and doubled, and annotations come out."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from .dropout import Dropout
from .encoder_output import EncoderOutput
from .left_edge import mean_over_positions, move_to_left_edge
from .projection import projection


class HourglassEncoder(nn.Module, ABC):
    """Halves the sentence ``depth`` times and doubles it again; what comes out becomes the annotations.

    Our choices, where the papers leave it open or where a sentence differs from an image:

    - a level of n positions has ⌈n/2⌉ below it (:func:`~recurrent_mt.layers.hourglass.padding_of_levels`), so every
      length from one word up works;
    - a product with a bias brings the words to the first level's width, and another brings the top to the annotations'
      width;
    - annotations and summary end in tanh, which gives them the range of the states that the decoder reads elsewhere;
    - the summary is tanh(W [b; a]), with b the mean over the positions of the bottleneck and a the mean of the
      annotations: this way, a decoder without attention reads all weights of the upper half;
    - no positions are added: through the bottom, each word sees far, and the zeros beyond both ends tell it where it
      is.

    Two things are not in the papers, and without them these encoders hardly learn to translate
    (docs/measurements/ablations.md):

    - a layer norm before each rectifier and on the words (:class:`~recurrent_mt.layers.convolution.ChannelNorm`);
    - the words themselves are added to what becomes their annotations, tanh(W z + x), so that what attention finds is
      about the word in that place. Gehring et al. (2017), eq. (2), add them to what attention returns.

    Args:
        input_size: E.
        hidden_size: H, the width of the first level, of the annotations and of the summary.
        top_size: channels at full resolution, at the end.
        bottom_size: channels of the bottleneck.
        depth: how often the sentence is halved.
        layer_norm: whether there are norms. The subclass makes the inner ones.
        word_residual: whether the words are added.
        dropout: probability of dropping a unit of the bottleneck.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        top_size: int,
        bottom_size: int,
        depth: int,
        layer_norm: bool,
        word_residual: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = hidden_size
        self.depth = depth
        self.word_residual = word_residual
        self.words = projection(input_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size) if layer_norm else nn.Identity()
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.annotations = projection(top_size, hidden_size)
        self.summary = projection(bottom_size + hidden_size, hidden_size, bias=False)

    @abstractmethod
    def descend(self, grid: Tensor, levels: list[Tensor]) -> list[Tensor]:
        """The way down: the grid at each level.

        Args:
            grid: (B, H, L) the words, with zeros on padding.
            levels: the padding of each level, full resolution first.

        Returns:
            For each level, a grid with zeros on padding; the last one is the bottleneck (B, bottom_size, L').
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
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        batch = move_to_left_edge(padding_mask)
        levels = padding_of_levels(batch.padding, self.depth)
        words = self.norm(self.words(batch.packing.pack(embedded)))
        *skips, bottom = self.descend(batch.grid(words), levels)
        grid = self.dropout(bottom)
        bottleneck = mean_over_positions(grid, levels[-1])
        for level in reversed(range(self.depth)):
            grid = self.ascend(grid, skips[level], level, levels[level])
        rows = self.annotations(batch.rows(grid))
        annotations = torch.tanh(rows + words if self.word_residual else rows)
        top = mean_over_positions(batch.grid(annotations), batch.padding)
        summary = torch.tanh(self.summary(torch.cat([bottleneck, top], dim=1)))
        return EncoderOutput(batch.packing.unpack(annotations), padding_mask, summary)


def widths_of_levels(network: str, hidden_size: int, *, depth: int, growth: int) -> list[int]:
    """Channels of each level, full resolution first: H times the growth to the power of the level.

    Raises:
        ValueError: naming the network, if depth or growth is below one.
    """
    if depth < 1 or growth < 1:
        raise ValueError(f"depth and growth of a {network} must be at least 1, not {depth} and {growth}")
    return [hidden_size * growth**level for level in range(depth + 1)]


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
