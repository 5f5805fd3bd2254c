"""The gated recurrent unit of Cho et al. (2014): one layer with what may bypass it, and the encoder that stacks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from ..kernels.dispatch import products_dtype
from ..kernels.gru import gru
from ..kernels.packing import make_packing
from .dropout import Dropout
from .encoder_output import EncoderOutput
from .gru_cell import PLAIN, GRUCell, GRUVariant, run_steps
from .time_skip import TimeSkip
from .weights import LowRankMatrix, multiply, projection


class InputSkip(nn.Module):
    """Adds a layer's input to its output: h + x, or h + W x if the widths differ.

    Wu et al. (2016), "Google's Neural Machine Translation System", section 3.1, between stacked recurrent layers; the
    projection, without a bias, comes from He et al. (2016), "Deep Residual Learning", eq. (2).

    Args:
        input_size: E.
        output_size: H.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.projection = None
        if input_size != output_size:
            self.projection = projection(input_size, output_size, bias=False)

    def forward(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """The sum (…, H) of outputs (…, H) and inputs (…, E)."""
        return outputs + (inputs if self.projection is None else self.projection(inputs))


class LayerOutput(nn.Module):
    """From a layer's state to its output: the state itself, or LN(h + W x), where either part may be off.

    The state that the layer carries from step to step is still the bare h.

    Args:
        input_size: E.
        hidden_size: H.
        skip: whether the layer's input is added; see :class:`InputSkip`.
        norm: whether the sum is normalized (Ba et al. 2016, "Layer Normalization"; they normalize inside the cell;
            here, only the output is normalized).
    """

    def __init__(self, input_size: int, hidden_size: int, *, skip: bool, norm: bool) -> None:
        super().__init__()
        self.skip = InputSkip(input_size, hidden_size) if skip else None
        self.norm = nn.LayerNorm(hidden_size) if norm else None

    def forward(self, states: Tensor, inputs: Tensor | None) -> Tensor:
        """The outputs (N, H) of states (N, H) that came from inputs (N, E), or None before the first input."""
        outputs = states
        if self.skip is not None and inputs is not None:
            outputs = self.skip(outputs, inputs)
        return outputs if self.norm is None else self.norm(outputs)


SUMMARIES = ("both", "forward", "backward")


class GRU(GRUCell):
    """One layer in one direction over packed rows; see :func:`recurrent_mt.kernels.gru.gru` for the equations.

    With a deep transition, a time step has L cells in a row, and only the first reads the input::

        h_{t,1} = GRU_1(x_t, h_{t−1,L})    h_{t,k} = GRU_k(h_{t,k−1})  for 1 < k ≤ L

    where GRU_k without an input has only its biases in the input's place. h_{t,L} is the layer's state: what is passed
    up, and what the first cell of the next time step reads (Miceli Barone et al. 2017, "Deep Architectures for Neural
    Machine Translation", section 2.2; Pascanu et al. 2014, "How to Construct Deep Recurrent Neural Networks").

    Args:
        input_size: E.
        hidden_size: H.
        variant: what it has besides the equations.

    Attributes:
        transition: the cells after the first, L − 1 of them.
        time_skip: the connection from an earlier state, or None.
        output: from states and inputs to what the layer passes up.
    """

    input_weight: nn.Parameter | LowRankMatrix

    def __init__(self, input_size: int, hidden_size: int, *, variant: GRUVariant = PLAIN) -> None:
        super().__init__(input_size, hidden_size, variant)
        self.transition = nn.ModuleList(GRUCell(0, hidden_size, variant) for _ in range(variant.transition_depth - 1))
        self.time_skip = TimeSkip(hidden_size, variant.time_skip) if variant.time_skip else None
        self.output = LayerOutput(input_size, hidden_size, skip=variant.input_skip, norm=variant.layer_norm)

    def project(self, rows: Tensor) -> Tensor:
        """The products of inputs (N, E) with their weights, biases included: (N, 3H)."""
        return multiply(rows, self.input_weight, self.biases())

    def previous_state(self, history: Tensor) -> Tensor:
        """The previous state (B, H) as the next step reads it.

        ``history`` is the last state (B, H), or with a skip in time the last K of them (B, K, H), oldest first.
        """
        return history if self.time_skip is None else self.time_skip(history)

    def forward(
        self, rows: Tensor, initial: Tensor, batch_sizes: Sequence[int], *, context: Tensor | None = None
    ) -> Tensor:
        """The states (N, H) after packed inputs (N, E); :attr:`output` turns them into what the layer passes up.

        Args:
            rows: the inputs.
            initial: (B, H) first states, in packed order, or with a skip in time the last K of them (B, K, H), oldest
                first.
            batch_sizes: sentences running at each position.
            context: (N, 3H) what else enters the gates and the candidate, if anything.
        """
        inputs = self.project(rows)
        return self.run(inputs if context is None else inputs + context, initial, batch_sizes)

    def run(self, inputs: Tensor, initial: Tensor, batch_sizes: Sequence[int]) -> Tensor:
        """Like :meth:`forward`, from the products (N, 3H) of everything that enters besides the previous state."""
        if self.variant.in_kernels or not batch_sizes:
            return gru(inputs, initial, *self.recurrent_weights(), batch_sizes=batch_sizes)
        advance, own = self.time_step(len(batch_sizes)), self.bias.dtype
        (states,) = run_steps(
            lambda x, h: (advance(x, h),), inputs.to(own), initial.to(own), batch_sizes, self.time_skip
        )
        return states

    def time_step(self, steps: int) -> Callable[[Tensor, Tensor], Tensor]:
        """All cells of a time step, for some steps of one batch, as a function.

        It takes the products of everything that enters besides the state (n, 3H), and the state that enters (n, H), and
        returns the state after the last cell (n, H).
        """
        products = products_dtype(self.bias)
        first, *others = (cell.prepare(steps, products) for cell in (self, *cast("Iterable[GRUCell]", self.transition)))

        def advance(inputs: Tensor, state: Tensor) -> Tensor:
            state = first.advance(inputs, state)
            for cell in others:
                state = cell.advance(None, state)
            return state

        return advance


class GRUEncoder(nn.Module):
    """A stack of GRU layers, forward only or in both directions.

    The annotation of a position is the top layer's state there, in both directions if there are two (Bahdanau et al.
    2015, A.2.1). The summary is the forward layer's last state and, if there is one, the backward layer's state at the
    first position, or just one of the two if so chosen. In variants whose output is not the bare state, "state" here
    means the output; the bare state is what is carried through time.

    Args:
        input_size: E.
        hidden_size: H of one direction.
        num_layers: how many layers.
        bidirectional: whether each layer also reads backward; the next layer then reads 2H.
        summary: ``both``, ``forward`` (RNNenc) or ``backward`` (RNNsearch's s_0: Bahdanau et al. 2015, A.2.2).
        dropout: probability of dropping a unit between layers.
        variant: the variant of all layers.

    Raises:
        ValueError: if the summary is ``backward`` and there is no backward layer.
    """

    layer_class: Callable[..., nn.Module] = GRU

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
        summary: str = "both",
        dropout: float = 0.0,
        variant: GRUVariant = PLAIN,
    ) -> None:
        super().__init__()
        directions = 2 if bidirectional else 1
        if summary == "backward" and not bidirectional:
            raise ValueError("--encoder-summary backward needs --encoder-bidirectional")
        self.summary = summary
        self.annotation_size = directions * hidden_size
        self.summary_size = self.annotation_size if summary == "both" else hidden_size
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                self.layer_class(self.annotation_size if layer else input_size, hidden_size, variant=variant)
                for _ in range(directions)
            )
            for layer in range(num_layers)
        )

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes embedded words (B, S, E); ``padding_mask`` (B, S) is True on padding."""
        packing = make_packing(padding_mask)
        rows = packing.pack(embedded)
        for index, directions in enumerate(cast("Iterable[Sequence[GRU]]", self.layers)):
            if index:
                rows = self.dropout(rows)
            initial = rows.new_zeros(embedded.size(0), directions[0].hidden_size)
            inputs = [rows] if len(directions) == 1 else [rows, packing.mirror(rows)]
            outputs = [
                direction.output(direction(x, initial, packing.batch_sizes), x)
                for direction, x in zip(directions, inputs)
            ]
            rows = outputs[0] if len(outputs) == 1 else packing.join_directions(*outputs)
        chosen = {"both": outputs, "forward": outputs[:1], "backward": outputs[1:]}[self.summary]
        summary = torch.cat([packing.last(output, initial) for output in chosen], dim=1)
        return EncoderOutput(packing.unpack(rows), padding_mask, summary)
