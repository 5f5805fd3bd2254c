"""The dilated gated recursive convolution in C++, forward and backward: ``../native/dilated_grconv.cpp``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native
from ..grconv.level import mean_gates
from .interface import DilatedGRConvOutput, DilatedGRConvWeights
from .packed import stacked


def dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, counts: Sequence[int], activation: str, *, products: torch.dtype
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` in C++.

    ``products`` is the format of products.
    """
    check_native("dilated_grconv", leaves)
    given = tuple(counts), activation == "tanh", products
    return DilatedGRConvOutput(*_DilatedGRConv.apply(leaves, *stacked(weights, counts), *given))


class _DilatedGRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, matrices: Tensor, bias: Tensor, *given: Any) -> tuple[Tensor, ...]:
        operation = torch.ops.recurrent_mt.dilated_grconv
        nodes, sums, summaries, candidates, gates, kept = operation(leaves, matrices, bias, *given)
        ctx.save_for_backward(leaves, matrices, bias, nodes, candidates, gates, kept)
        ctx.given, shown = given, mean_gates(gates)
        ctx.mark_non_differentiable(shown)
        ctx.set_materialize_grads(False)
        return nodes, sums, summaries, shown

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        leaves, matrices, bias, *made = ctx.saved_tensors
        operation = torch.ops.recurrent_mt.dilated_grconv_backward
        return *operation(*grads[:3], leaves, matrices, bias, *ctx.given, *made), None, None, None
