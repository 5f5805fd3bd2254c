"""The minimal gated recurrent unit of Feng et al. (2024): one layer, and the encoder that stacks it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..kernels.min_gru import min_gru
from .gru import GRUEncoder, LayerOutput
from .gru_cell import PLAIN, GRUVariant
from .weights import multiply, weight_of_rank, xavier_blocks_


class MinGRU(nn.Module):
    """One layer in one direction over packed rows; see :func:`recurrent_mt.kernels.min_gru.min_gru` for the equations.

    Args:
        input_size: E.
        hidden_size: H.
        variant: only its rank, input skip, token shift, and layer norm have a place here.

    Attributes:
        input_weight: (2H, E), ordered [update, candidate].
        bias: (2H,), the same way.
        shift: (2H,), the same way, or None.
        output: from states and inputs to what the layer passes up.
    """

    def __init__(self, input_size: int, hidden_size: int, *, variant: GRUVariant = PLAIN) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.variant = variant
        weight = xavier_blocks_(torch.empty(2 * hidden_size, input_size), hidden_size)
        self.input_weight = weight_of_rank(weight, variant.rank)
        self.bias = nn.Parameter(torch.zeros(2 * hidden_size))
        self.shift = nn.Parameter(torch.zeros(2 * hidden_size)) if variant.token_shift else None
        self.output = LayerOutput(input_size, hidden_size, skip=variant.input_skip, norm=variant.layer_norm)

    def project(self, rows: Tensor) -> Tensor:
        """The products of inputs (…, E) with their weights, biases included: (…, 2H)."""
        return multiply(rows, self.input_weight, self.bias)

    def forward(self, rows: Tensor, initial: Tensor, batch_sizes: Sequence[int]) -> Tensor:
        """The states (N, H) after packed inputs (N, E), from first states (B, H) in packed order.

        :attr:`output` turns them into what the layer passes up.
        """
        return min_gru(self.project(rows), initial, batch_sizes=batch_sizes, shift=self.shift)

    def step(self, inputs: Tensor, last: Tensor, entered: Tensor) -> Tensor:
        """The states (n, H) after one more input's products (n, 2H).

        Args:
            inputs: these.
            last: (n, H) the states before.
            entered: the products of the inputs before, of 2H numbers for each row, zeros before the first; read with a
                token shift.
        """
        if self.shift is not None:
            inputs = inputs + self.shift * entered.flatten(1)
        return min_gru(inputs, last, batch_sizes=(inputs.size(0),))


class MinGRUEncoder(GRUEncoder):
    """The same stack of minimal GRUs."""

    layer_class = MinGRU
