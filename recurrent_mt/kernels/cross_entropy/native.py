"""The output layer and its cross-entropy in C++: ``../native/cross_entropy.cpp``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native


def cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    *,
    products: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.cross_entropy.cross_entropy` in C++.

    ``products`` is the format of matrix products.
    """
    check_native("cross_entropy", features)
    return _CrossEntropy.apply(features, weight, bias, target, label_smoothing, products)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, *rest: Any) -> tuple[Tensor, Tensor]:
        number = None if bias is None else bias.dtype
        bias = None if bias is None else bias.to(features.dtype)
        loss, total, *grads = torch.ops.recurrent_mt.cross_entropy(
            features, weight, bias, *rest, *ctx.needs_input_grad[:3]
        )
        ctx.save_for_backward(*grads)
        ctx.formats = features.dtype, weight.dtype, number
        ctx.mark_non_differentiable(total)
        return loss, total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        saved = zip(ctx.saved_tensors, ctx.formats)
        return *(None if grad is None else (grad * grad_loss).to(number) for grad, number in saved), None, None, None
