"""The gated recurrent unit in C++, forward and backward: ``../native/gru.cpp``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native
from ..matrix import Matrix


def gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
    time_gate: Tensor | None,
    *,
    products: torch.dtype,
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` in C++; ``products`` is the format of matrix products."""
    check_native("gru", inputs)
    return _GRU.apply(inputs, initial[: counts[0]], *gate, *candidate, time_gate, products, tuple(counts))


class _GRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, *rest: Any) -> Tensor:
        states, gates, candidates = torch.ops.recurrent_mt.gru(inputs, *rest)
        *tensors, ctx.products, ctx.counts = rest
        ctx.save_for_backward(*tensors, states, gates, candidates)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, states, gates, candidates = ctx.saved_tensors
        given = *tensors, ctx.products, ctx.counts, states, gates, candidates
        return *torch.ops.recurrent_mt.gru_backward(grad_states, *given), None, None
