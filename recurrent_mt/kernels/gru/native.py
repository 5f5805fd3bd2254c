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
) -> Tensor:
    """See :func:`recurrent_mt.kernels.gru.gru`."""
    check_native("gru", inputs)
    return _GRU.apply(inputs, initial[: counts[0]], *gate, *candidate, time_gate, tuple(counts))


class _GRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, *rest: Any) -> Tensor:
        states, gates, candidates = torch.ops.recurrent_mt.gru(inputs, *rest)
        *tensors, ctx.counts = rest
        ctx.save_for_backward(*tensors, states, gates, candidates)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, states, gates, candidates = ctx.saved_tensors
        return *torch.ops.recurrent_mt.gru_backward(grad_states, *tensors, ctx.counts, states, gates, candidates), None
