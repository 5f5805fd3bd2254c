"""Dropout: PyTorch's, or in C++ one pass over the numbers, ``native/dropout.cpp``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .backend import NATIVE_FORMATS, resolve


def dropout(values: Tensor, probability: float, *, backend: str = "packed") -> Tensor:
    """Sets each number to zero with some probability and divides the others by the probability of being kept.

    PyTorch draws a number for each place, and keeps the mask until the backward pass. With the backend ``native``, one
    number from PyTorch's generator is the seed of all, and the backward pass computes the mask again. So both repeat
    themselves after ``torch.manual_seed``, but with different masks.

    Args:
        values: any shape.
        probability: from 0 to 1.
        backend: ``native``, or ``auto`` where that is built; any other is PyTorch's.
    """
    if 0 < probability < 1 and values.dtype in NATIVE_FORMATS and resolve(backend, values) == "native":
        return _Dropout.apply(values, probability)
    return F.dropout(values, probability)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, probability: float) -> Tensor:
        seed = int(torch.empty((), dtype=torch.int64).random_())
        ctx.chosen = probability, seed
        return torch.ops.recurrent_mt.dropout(values, probability, seed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return torch.ops.recurrent_mt.dropout(grad, *ctx.chosen), None
