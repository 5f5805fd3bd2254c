"""The linear layer from one width to another."""

from __future__ import annotations

from torch import Tensor, nn

from ..kernels.linear import linear


def projection(input_size: int, output_size: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer that starts from Glorot & Bengio (2010), eq. (16), with a bias of zero."""
    layer = nn.Linear(input_size, output_size, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def project(layer: nn.Module, rows: Tensor, *, backend: str) -> Tensor:
    """``layer(rows)`` of a linear layer, by :func:`recurrent_mt.kernels.linear.linear`.

    A layer that PyTorch has quantized is none, and multiplies as it does.
    """
    return linear(rows, layer.weight, layer.bias, backend=backend) if isinstance(layer, nn.Linear) else layer(rows)
