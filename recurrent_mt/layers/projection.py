"""Linear layers whose products are the kernels'."""

from __future__ import annotations

from torch import Tensor, nn

from ..kernels.linear import linear


def project(layer: nn.Module, rows: Tensor, *, backend: str) -> Tensor:
    """``layer(rows)`` of a linear layer, by :func:`recurrent_mt.kernels.linear.linear`.

    A layer that PyTorch has quantized is none, and multiplies as it does.
    """
    return linear(rows, layer.weight, layer.bias, backend=backend) if isinstance(layer, nn.Linear) else layer(rows)
