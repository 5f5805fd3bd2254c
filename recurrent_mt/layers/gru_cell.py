"""One cell of a GRU layer: its weights, and its step in PyTorch operations.

The kernels know layers of one cell as published. A layer whose time step is something else runs position by position,
in the operations here, under autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..kernels.matrix import Matrix, as_matrix
from .dropout import Dropout
from .time_skip import TimeSkip
from .weights import LowRankMatrix, kernel_weight, orthogonal_blocks_, weight_of_rank, xavier_blocks_


class GRUVariant(NamedTuple):
    """What a GRU layer adds to or leaves out of the published equations; the defaults are theirs."""

    gate_bias: bool = True  # whether the gates have biases; the authors' code has one only in the candidate
    #: inner size of the product as which each matrix is kept, 0 for whole matrices: the input weight, the recurrent
    #: weights of the gates and the candidate, and, in a decoder's first layer, the context weight. Gates stacked in one
    #: weight share its right factor. See :class:`~recurrent_mt.layers.weights.LowRankMatrix`.
    rank: int = 0
    #: whether the input is added to the output; see :class:`~recurrent_mt.layers.gru.InputSkip`
    input_skip: bool = False
    time_skip: int = 0  # K of :class:`~recurrent_mt.layers.time_skip.TimeSkip`, 0 for none
    layer_norm: bool = False  # whether the output is normalized; see :class:`~recurrent_mt.layers.gru.LayerOutput`
    #: probability of dropping a number of the recurrent matrices, for all steps of a batch at once (Merity et al. 2018,
    #: "Regularizing and Optimizing LSTM Language Models", section 3): no unit of a state is lost on its way, and every
    #: kernel can do it. A search that keeps dropout (``--retain-dropout``) calls the decoder step by step, and each
    #: call drops other numbers.
    recurrent_dropout: float = 0.0
    token_shift: bool = False  # of minimal GRUs; see :func:`~recurrent_mt.kernels.min_gru.min_gru`
    transition_depth: int = 1  # L, how many cells a time step has; see :class:`~recurrent_mt.layers.gru.GRU`

    @property
    def in_kernels(self) -> bool:
        """Whether the kernels know the layer's time step."""
        return self.transition_depth == 1 and not self.time_skip


#: As published.
PLAIN = GRUVariant()


class GRUCell(nn.Module):
    """The weights of a cell.

    Args:
        input_size: E; 0 for a cell that has no input and reads only the previous cell's state.
        hidden_size: H.
        variant: what its layer has besides the equations.

    Attributes:
        input_weight: (3H, E), ordered [reset, update, candidate]; None without an input.
        gate_weight: (2H, H), ordered [reset, update].
        candidate_weight: (H, H).
        bias: (3H,), ordered [reset, update, candidate]; (H,), the candidate's, without biases in the gates.
    """

    input_weight: nn.Parameter | LowRankMatrix | None

    def __init__(self, input_size: int, hidden_size: int, variant: GRUVariant) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.variant = variant
        rank = variant.rank
        self.input_weight = None
        # Drawn first, and registered first, as in every checkpoint.
        if input_size:
            inputs = xavier_blocks_(torch.empty(3 * hidden_size, input_size), hidden_size)
            self.input_weight = weight_of_rank(inputs, rank)
        self.gate_weight = weight_of_rank(orthogonal_blocks_(torch.empty(2 * hidden_size, hidden_size)), rank)
        self.candidate_weight = weight_of_rank(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)), rank)
        self.bias = nn.Parameter(torch.zeros((3 if variant.gate_bias else 1) * hidden_size))
        self.dropout = Dropout(variant.recurrent_dropout, owner="GRU")

    def biases(self) -> Tensor:
        """The bias (3H,), with zeros for gates that have none."""
        return F.pad(self.bias, (3 * self.hidden_size - self.bias.numel(), 0))

    def recurrent_weights(self) -> tuple[Tensor | Matrix, Tensor | Matrix]:
        """The gates' and the candidate's recurrent weights as the kernels take them."""
        gate, candidate = kernel_weight(self.gate_weight), kernel_weight(self.candidate_weight)
        if not self.dropout.probability:
            return gate, candidate
        return self.dropout(gate), self.dropout(candidate)

    def prepare(self, steps: int, products: torch.dtype) -> PreparedCell:
        """The cell for some steps of one batch, with matrix products in that number format."""
        gate, candidate = (as_matrix(weight).to(products).for_steps(steps) for weight in self.recurrent_weights())
        return PreparedCell(gate, candidate, self.biases())


class PreparedCell(NamedTuple):
    """A cell as the steps of one batch use it."""

    gate: Matrix  # U_r above U_z, (2H, H)
    candidate: Matrix  # U, (H, H)
    bias: Tensor  # (3H,), which enters where nothing else does

    def advance(self, inputs: Tensor | None, state: Tensor) -> Tensor:
        """The state after the cell (n, H); see :func:`recurrent_mt.kernels.gru.gru` for the equations.

        Args:
            inputs: (n, 3H) the products of everything that enters besides the state, with biases; None in a cell
                without an input.
            state: (n, H) before the cell.
        """
        entering = self.bias if inputs is None else inputs
        x_gates, x_candidate = entering.tensor_split([2 * state.size(1)], dim=-1)
        reset, update = self.gate.add_to(x_gates, state).sigmoid().chunk(2, dim=1)
        candidate = self.candidate.add_to(x_candidate, reset * state).tanh()
        return torch.lerp(candidate, state, update)


def run_steps(
    step: Callable[[Tensor, Tensor], tuple[Tensor, ...]],
    inputs: Tensor,
    initial: Tensor,
    batch_sizes: Sequence[int],
    time_skip: TimeSkip | None,
) -> tuple[Tensor, ...]:
    """Runs a recurrence over packed rows, one position after the other.

    Args:
        step: from inputs (n, 3H) and what enters a position (n, H) to its state (n, H) and whatever else it returns.
        inputs: (N, 3H) packed.
        initial: (B, H) the first states, in packed order; with a skip in time, also the last K of them, oldest first,
            (B, K, H).
        batch_sizes: of at least one position, as in :class:`~recurrent_mt.kernels.packing.Packing`.
        time_skip: the connection from an earlier state, or None.

    Returns:
        What the steps returned, each packed (N, …).
    """
    states = [initial] if time_skip is None else list(time_skip.history(initial).unbind(1))
    span, gate = len(states), None if time_skip is None else time_skip.gate()
    results = []
    for x in inputs.split(list(batch_sizes)):
        entering = states[-1][: x.size(0)]
        if gate is not None:
            entering = torch.lerp(states[-span][: x.size(0)], entering, gate)
        results.append(step(x, entering))
        states.append(results[-1][0])
    return tuple(map(torch.cat, zip(*results)))
