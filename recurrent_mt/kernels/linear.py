"""Linear layers and dropout: in C++, ``native/linear.cpp`` and ``native/dropout.cpp``, or as PyTorch has them.

A model has many small layers around its recurrences. PyTorch's products in float32 use what the processor has only on
some, and those in bfloat16 keep compiled code for every shape of a batch, a gigabyte after some hundred updates. Its
dropout draws one random number at a time, on one thread.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .dispatch import products_dtype, selected

FEWEST_ROWS = 64
"""Each call copies the weight: with one of 512 × 1,024, 16 rows take 1.1 times as long as PyTorch, 64 rows 0.6."""


def linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """W x + b of rows (…, K), with W (M, K) and b (M,): (…, M).

    In C++ for float32 on a CPU, with products in bfloat16 under its autocast; otherwise ``torch.nn.functional.linear``.
    """
    few = rows.numel() < FEWEST_ROWS * rows.size(-1)
    if few or weight.dtype != torch.float32 or selected(weight, "linear") != "native":
        return F.linear(rows, weight, bias)
    products = products_dtype(weight)
    with torch.autocast("cpu", enabled=False):
        made = _Linear.apply(rows.flatten(0, -2).to(weight.dtype), weight, bias, products)
    return made.unflatten(0, rows.shape[:-1])


def dropout(values: Tensor, probability: float, *, training: bool) -> Tensor:
    """Sets numbers to zero with a probability and scales the rest, if in training."""
    draws = training and 0 < probability < 1
    if draws and values.dtype == torch.float32 and selected(values, "dropout") == "native":
        return _Dropout.apply(values, probability)
    return F.dropout(values, probability, training=training)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None, products: torch.dtype) -> Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.products = products
        return torch.ops.recurrent_mt.linear(rows, weight, bias, products)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad[:3]
        return *torch.ops.recurrent_mt.linear_backward(grad, *ctx.saved_tensors, ctx.products, *needed), None


class _Dropout(torch.autograd.Function):
    """The mask is computed from a key, which torch's generator draws, and once more for the gradient."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, probability: float) -> Tensor:
        ctx.probability, ctx.key = probability, int(torch.empty((), dtype=torch.int64).random_())
        return torch.ops.recurrent_mt.dropout(values, probability, ctx.key)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return torch.ops.recurrent_mt.dropout(grad, ctx.probability, ctx.key), None
