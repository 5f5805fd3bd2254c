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
    two. Super-separable, with g groups: the channels are split into g parts, each part has its own separable
    convolution, and the parts are concatenated; the product's matrix then has g blocks. k·C + C²/g weights for kernels
    of width k.

    Args:
        size: C, input and output channels.
        width: k, an odd number of positions.
        groups: g, a divisor of the size.

    Raises:
        ValueError: if the groups do not divide the channels, or if the width is not a positive odd number.
    """

    def __init__(self, size: int, *, width: int, groups: int = 1) -> None:
        super().__init__()
        if groups < 1 or size % groups:
            raise ValueError(f"{groups} groups do not divide the {size} channels of a super-separable convolution")
        self.depthwise = Convolution(size, size, width=width, groups=size)
        self.pointwise = Convolution(size, size, width=1, groups=groups)

    def forward(self, grid: Tensor, padding: Tensor) -> Tensor:
        """(B, C, L) and its padding (B, 1, L) → (B, C, L) with zeros on padding."""
        return self.pointwise(self.depthwise(grid, padding), padding)


class ConvolutionStep(nn.Module):
    """ConvStep(x) = LayerNorm(SepConv(ReLU(x))): Kaiser et al. (2017), section 2.1.

    Args:
        size: C.
        convolution: :class:`SeparableConvolution`, or its control,
            :class:`~recurrent_mt.layers.grid.Convolution`.
    """

    def __init__(self, size: int, *, convolution: nn.Module) -> None:
        super().__init__()
        self.convolution = convolution
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
    product with a bias and normalized, so that they enter the sums of the modules at the scale of the steps and do not
    drown in the sinusoids. Dropout comes between modules; after the last one, the annotations have the model's own.

    A convolution knows its neighbors but not its position; only near a sentence's ends do the zeros beyond them reveal
    it. The authors' released code adds sinusoids to the words, and so does ``positions``; they count from a sentence's
    own first word.

    Args:
        input_size: E.
        hidden_size: H.
        widths: the kernels' widths, one per step, the same in each module.
        num_modules: how many modules.
        groups: those of the super-separable convolutions: step i has ``groups[i % len(groups)]``. Numbers without a
            common divisor (2 and 3 in the paper) let all channels mix over the steps.
        ordinary: use ordinary instead of separable convolutions, as a control: k·H² weights.
        positions: whether sinusoids are added to the words.
        dropout: probability of dropping a unit between modules.

    Raises:
        ValueError: if there is no module or no step, if a width is not a positive odd number, if groups do not divide
            H, or if ordinary convolutions are combined with groups.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        widths: Sequence[int] = (3, 3, 15, 15),
        num_modules: int = 1,
        groups: Sequence[int] = (1,),
        ordinary: bool = False,
        positions: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if num_modules < 1 or not widths or not groups:
            raise ValueError("a convolutional encoder needs at least one module, one kernel width, and one group")
        if len(groups) > len(widths):
            raise ValueError(f"{len(groups)} numbers of groups, but a module has {len(widths)} steps")
        if ordinary and any(group != 1 for group in groups):
            raise ValueError(f"groups {', '.join(map(str, groups))} are for separable convolutions, not ordinary ones")
        self.annotation_size = self.summary_size = hidden_size
        self.positions = positions
        self.words = projection(input_size, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.modules_of_steps = nn.ModuleList(
            ConvolutionModule(
                [
                    ConvolutionStep(
                        hidden_size,
                        convolution=Convolution(hidden_size, hidden_size, width=width)
                        if ordinary
                        else SeparableConvolution(hidden_size, width=width, groups=groups[step % len(groups)]),
                    )
                    for step, width in enumerate(widths)
                ]
            )
            for _ in range(num_modules)
        )
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.summary = projection(hidden_size, hidden_size, bias=False)

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        batch = move_to_left_edge(padding_mask)
        rows = self.norm(self.words(batch.packing.pack(embedded)))
        if self.positions:
            sentences, _, length = batch.padding.shape
            places = sinusoids(length, rows.size(1), like=rows).t().expand(sentences, -1, -1)
            rows = rows + batch.rows(places)
        for index, module in enumerate(self.modules_of_steps):
            rows = module(self.dropout(rows) if index else rows, batch)
        summary = torch.tanh(self.summary(mean_over_positions(batch.grid(rows), batch.padding)))
        return EncoderOutput(batch.packing.unpack(rows), padding_mask, summary)


def sinusoids(length: int, size: int, *, like: Tensor) -> Tensor:
    """A vector for each of ``length`` positions, counted from 0.

    Unit 2i of position p is sin(p / 10000^(2i/size)), unit 2i + 1 the cosine of the same (Vaswani et al. 2017, section
    3.5; Kaiser et al. 2017, section 2.2); an odd ``size`` ends in a sine.

    Args:
        length: L.
        size: C.
        like: a tensor with the wanted device and type.

    Returns:
        (L, C).
    """
    unit = torch.arange(size, device=like.device, dtype=torch.float64)
    rate = 10000.0 ** (-(unit - unit % 2) / size)
    angle = torch.arange(length, device=like.device, dtype=torch.float64)[:, None] * rate
    return torch.where(unit % 2 == 0, angle.sin(), angle.cos()).to(like.dtype)
