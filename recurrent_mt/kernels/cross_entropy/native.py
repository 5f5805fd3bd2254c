"""The output layer and its cross-entropy in C++: ``../native/cross_entropy.cpp``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native


def cross_entropy(features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> Tensor:
    """See :func:`recurrent_mt.kernels.cross_entropy.cross_entropy`."""
    check_native("cross_entropy", features)
    return _CrossEntropy.apply(features, weight, bias, target)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> Tensor:
        number = None if bias is None else bias.dtype
        bias = None if bias is None else bias.to(features.dtype)
        total, *grads = torch.ops.recurrent_mt.cross_entropy(features, weight, bias, target, *ctx.needs_input_grad[:3])
        ctx.save_for_backward(*grads)
        ctx.formats = features.dtype, weight.dtype, number
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_total: Tensor) -> tuple[Tensor | None, ...]:
        saved = zip(ctx.saved_tensors, ctx.formats)
        return *(None if grad is None else (grad * grad_total).to(number) for grad, number in saved), None
