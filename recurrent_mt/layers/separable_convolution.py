"""Depthwise separable convolutions over the words of a sentence: the encoder of SliceNet, Kaiser et al. (2017)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .dropout import Dropout
from .encoder_output import EncoderOutput
from .grid import Convolution, LeftEdge, mean_over_positions, move_to_left_edge
from .weights import projection


class SeparableConvolution(nn.Module):
    """A separate convolution for each channel, and a product over the channels at each position.

    Kaiser et al. (2017), section 2: SepConv(W_p, W_d, x) = Conv(W_p, DepthwiseConv(W_d, x)), with nothing between the
    two: k·C + C² weights for kernels of width k.

    Args:
        size: C, input and output channels.
        width: k, an odd number of positions.
    """

    def __init__(self, size: int, *, width: int) -> None:
        super().__init__()
        self.depthwise = Convolution(size, size, width=width, groups=size)
        self.pointwise = Convolution(size, size, width=1)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C, L) with zeros on padding."""
        return self.pointwise(self.depthwise(grid, padding), padding)


class ConvolutionStep(nn.Module):
    """ConvStep(x) = LayerNorm(SepConv(ReLU(x))): Kaiser et al. (2017), section 2.1.

    Args:
        size: C.
        width: k.
    """

    def __init__(self, size: int, *, width: int) -> None:
        super().__init__()
        self.convolution = SeparableConvolution(size, width=width)
        self.norm = nn.LayerNorm(size)

    def forward(self, rows: Tensor, batch: LeftEdge) -> Tensor:
        """Packed rows (N, C) → (N, C): there is no padding for the norm to see."""
        return self.norm(batch.rows(self.convolution(batch.grid(rows.relu()), batch.padding)))


class ConvolutionModule(nn.Module):
    """Steps with residual connections: the module's input is added after every second one and after the last.

    Kaiser et al. (2017), section 2.1, with widths 3, 3, 15, 15: h₁ = Step(x), h₂ = x + Step(h₁), h₃ = Step(h₂),
    h₄ = x + Step(h₃).

    Args:
        steps: the module's steps.
    """

    def __init__(self, steps: Sequence[ConvolutionStep]) -> None:
        super().__init__()
        self.steps = nn.ModuleList(steps)

    def forward(self, rows: Tensor, batch: LeftEdge) -> Tensor:
        """Packed rows (N, C) → (N, C)."""
        hidden = rows
        for number, step in enumerate(self.steps, start=1):
            hidden = step(hidden, batch)
            if number % 2 == 0 or number == len(self.steps):
                hidden = rows + hidden
        return hidden


class SeparableConvolutionEncoder(nn.Module):
    """A stack of :class:`ConvolutionModule`; its top is the annotations.

    Kaiser et al. (2017), sections 2 and 3. Theirs is only read by attention and leaves open what a fixed vector would
    be; here, the summary is tanh(W m), with m the mean of the annotations. The words are brought to width H by a
    product with a bias and normalized, so that they enter the sums of the modules at the scale of the steps. Dropout
    comes between modules; after the last one, the annotations have the model's own. No positions are added.

    Args:
        input_size: E.
        hidden_size: H.
        widths: the kernels' widths, one per step, the same in each module.
        num_modules: how many modules.
        dropout: probability of dropping a unit between modules.

    Raises:
        ValueError: if a width is not an odd number.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        widths: Sequence[int] = (3, 3, 15, 15),
        num_modules: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = hidden_size
        self.words = projection(input_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.modules_of_steps = nn.ModuleList(
            ConvolutionModule([ConvolutionStep(hidden_size, width=width) for width in widths])
            for _ in range(num_modules)
        )
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.summary = projection(hidden_size, hidden_size, bias=False)

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes embedded words (B, S, E); ``padding_mask`` (B, S) is True on padding."""
        batch = move_to_left_edge(padding_mask)
        rows = self.norm(self.words(batch.packing.pack(embedded)))
        for index, module in enumerate(self.modules_of_steps):
            rows = module(self.dropout(rows) if index else rows, batch)
        summary = torch.tanh(self.summary(mean_over_positions(batch.grid(rows), batch.padding)))
        return EncoderOutput(batch.packing.unpack(rows), padding_mask, summary)
