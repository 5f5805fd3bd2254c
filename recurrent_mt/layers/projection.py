"""The linear layer from one width to another."""

from __future__ import annotations

from torch import nn


def projection(input_size: int, output_size: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer that starts from Glorot & Bengio (2010), eq. (16), with a bias of zero."""
    layer = nn.Linear(input_size, output_size, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer
