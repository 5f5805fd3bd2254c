"""The gated recurrent unit of Cho et al. (2014): one layer, and the encoder that stacks it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..kernels.gru import gru
from ..kernels.matrix import Matrix
from ..kernels.packing import make_packing
from .dropout import Dropout
from .encoder_output import EncoderOutput
from .initialization import orthogonal_blocks_, xavier_blocks_
from .low_rank import kernel_weight, linear, weight_of_rank
from .skip import LayerOutput, TimeSkip

SUMMARIES = ("both", "forward", "backward")


class GRUVariant(NamedTuple):
    """What a GRU layer adds to or leaves out of the published equations; the defaults are theirs.

    Attributes:
        gate_bias: whether the gates have biases; the authors' code has one only in the candidate.
        rank: inner size of the product as which each matrix is kept, 0 for whole matrices: the input weight, the
            recurrent weights of the gates and the candidate, and, in a decoder's first layer, the context weight. Gates
            stacked in one weight share its right factor. See :class:`~recurrent_mt.layers.low_rank.LowRankMatrix`.
        input_skip: whether the input is added to the output; see :class:`~recurrent_mt.layers.skip.InputSkip`.
        time_skip: K of :class:`~recurrent_mt.layers.skip.TimeSkip`, 0 for none.
        layer_norm: whether the output is normalized; see :class:`~recurrent_mt.layers.skip.LayerOutput`.
        recurrent_dropout: probability of dropping a number of the recurrent matrices, for all steps of a batch at once
            (Merity et al. 2018, "Regularizing and Optimizing LSTM Language Models", section 3): no unit of a state is
            lost on its way, and every kernel can do it.
    """

    gate_bias: bool = True
    rank: int = 0
    input_skip: bool = False
    time_skip: int = 0
    layer_norm: bool = False
    recurrent_dropout: float = 0.0


#: As published.
PLAIN = GRUVariant()


class GRU(nn.Module):
    """One layer in one direction over packed rows; see :func:`recurrent_mt.kernels.gru.gru` for the equations.

    Args:
        input_size: E.
        hidden_size: H.
        variant: what it has besides the equations.
        backend: the kernel's implementation.

    Attributes:
        input_weight: (3H, E), ordered [reset, update, candidate].
        gate_weight: (2H, H), ordered [reset, update].
        candidate_weight: (H, H).
        bias: (3H,), ordered [reset, update, candidate]; (H,), the candidate's, without biases in the gates.
        time_skip: the connection from an earlier state, or None.
        output: from states and inputs to what the layer passes up.
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, variant: GRUVariant = PLAIN, backend: str = "packed"
    ) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.variant = variant
        self.backend = backend
        rank = variant.rank
        inputs = xavier_blocks_(torch.empty(3 * hidden_size, input_size), hidden_size)
        self.input_weight = weight_of_rank(inputs, rank)
        self.gate_weight = weight_of_rank(orthogonal_blocks_(torch.empty(2 * hidden_size, hidden_size)), rank)
        self.candidate_weight = weight_of_rank(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)), rank)
        self.bias = nn.Parameter(torch.zeros((3 if variant.gate_bias else 1) * hidden_size))
        self.time_skip = TimeSkip(hidden_size, variant.time_skip) if variant.time_skip else None
        self.output = LayerOutput(input_size, hidden_size, skip=variant.input_skip, norm=variant.layer_norm)
        self.dropout = Dropout(variant.recurrent_dropout, owner=type(self).__name__)

    def project(self, rows: Tensor) -> Tensor:
        """The products of inputs (N, E) with their weights, biases included: (N, 3H)."""
        bias = F.pad(self.bias, (3 * self.hidden_size - self.bias.numel(), 0))
        return linear(rows, self.input_weight, bias)

    def recurrent_weights(self) -> tuple[Tensor | Matrix, Tensor | Matrix]:
        """The gates' and the candidate's recurrent weights as the kernels take them."""
        gate, candidate = kernel_weight(self.gate_weight), kernel_weight(self.candidate_weight)
        if not self.dropout.probability:
            return gate, candidate
        return self.dropout(gate), self.dropout(candidate)

    def before_the_start(self, initial: Tensor) -> tuple[Tensor, Tensor | None]:
        """The states before the first step and the gate over time, as the kernels take them.

        Args:
            initial: (B, H) first states, or with a skip in time the last K of them (B, K, H), oldest first.
        """
        if self.time_skip is None:
            return initial, None
        return initial if initial.dim() == 3 else self.time_skip.history(initial), self.time_skip.gate()

    def entering(self, history: Tensor) -> Tensor:
        """What enters the next step (B, H).

        Args:
            history: the last state (B, H), or with a skip in time the last K of them (B, K, H), oldest first.
        """
        return history if self.time_skip is None else self.time_skip(history)

    def forward(self, rows: Tensor, initial: Tensor, counts: Sequence[int], *, context: Tensor | None = None) -> Tensor:
        """Runs the layer.

        Args:
            rows: (N, E) packed inputs.
            initial: (B, H) first states, in packed order, or with a skip in time the last K of them (B, K, H), oldest
                first.
            counts: sentences running at each position.
            context: (N, 3H) what else enters the gates and the candidate, if anything.

        Returns:
            (N, H) the states; :attr:`output` turns them into what the layer passes up.
        """
        inputs = self.project(rows)
        return self.run(inputs if context is None else inputs + context, initial, counts)

    def run(self, inputs: Tensor, initial: Tensor, counts: Sequence[int]) -> Tensor:
        """Like :meth:`forward`, from the products (N, 3H) of everything that enters besides the previous state."""
        initial, time_gate = self.before_the_start(initial)
        return gru(inputs, initial, *self.recurrent_weights(), counts=counts, time_gate=time_gate, backend=self.backend)


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
        backend: the kernel's implementation.

    Raises:
        ValueError: if the summary is unknown, or if it is ``backward`` and there is no backward layer.
    """

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
        backend: str = "packed",
    ) -> None:
        super().__init__()
        directions = 2 if bidirectional else 1
        if summary not in SUMMARIES:
            raise ValueError(f"there is no encoder summary {summary!r}; there are: {', '.join(SUMMARIES)}")
        if summary == "backward" and not bidirectional:
            raise ValueError("--encoder-summary backward needs --encoder-bidirectional")
        self.summary = summary
        self.annotation_size = directions * hidden_size
        self.summary_size = self.annotation_size if summary == "both" else hidden_size
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                GRU(self.annotation_size if layer else input_size, hidden_size, variant=variant, backend=backend)
                for _ in range(directions)
            )
            for layer in range(num_layers)
        )

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        packing = make_packing(padding_mask)
        rows = packing.pack(embedded)
        for index, directions in enumerate(cast("Iterable[Sequence[GRU]]", self.layers)):
            if index:
                rows = self.dropout(rows)
            initial = rows.new_zeros(embedded.size(0), directions[0].hidden_size)
            inputs = [rows] if len(directions) == 1 else [rows, rows[packing.reverse]]
            outputs = [
                direction.output(direction(x, initial, packing.counts), x) for direction, x in zip(directions, inputs)
            ]
            rows = torch.cat([outputs[0], *(output[packing.reverse] for output in outputs[1:])], dim=1)
        chosen = {"both": outputs, "forward": outputs[:1], "backward": outputs[1:]}[self.summary]
        summary = torch.cat([packing.last(output, initial) for output in chosen], dim=1)
        return EncoderOutput(packing.unpack(rows), padding_mask, summary)
