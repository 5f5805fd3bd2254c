"""The attentive GRU in C++, forward and backward: ``../native/attentive_gru.cpp`` and ``../native/attention.cpp``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native
from . import packed
from .memory import AttentiveGRUWeights, Memory


def attend(
    state: Tensor, memory: Memory, weights: AttentiveGRUWeights, *, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attend` in C++.

    What needs gradients, which no search does, goes to ``packed``.

    ``products`` is the format of matrix products.
    """
    check_native("attend", state)
    read = (state, *memory, weights.query, weights.score)
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in read):
        query = None if weights.query is None else weights.query.to(products)
        return packed.attend(state, memory, weights._replace(query=query))
    return torch.ops.recurrent_mt.attend(state, *memory, weights.query, weights.score, products)


def attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
    time_gate: Tensor | None,
    *,
    products: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` in C++.

    ``products`` is the format of matrix products.
    """
    check_native("attentive_gru", inputs)
    factors = [factor for matrix in weights.matrices() for factor in matrix]
    tensors = *memory, *factors, weights.query, weights.score, time_gate
    return _AttentiveGRU.apply(inputs, initial[: counts[0]], *tensors, products, tuple(counts))


class _AttentiveGRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        *tensors, ctx.products, ctx.counts = rest
        outputs = torch.ops.recurrent_mt.attentive_gru(inputs, *_arguments(tensors), ctx.products, ctx.counts)
        ctx.save_for_backward(*tensors, *outputs)
        ctx.mark_non_differentiable(outputs[2])
        return outputs[:3]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_contexts: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        tensors, outputs = ctx.saved_tensors[:-6], ctx.saved_tensors[-6:]
        arguments = _arguments(tensors)
        _, keys, values = arguments[:3]
        grad_inputs, grad_initial, grad_keys, grad_contexts, *grads, grad_energies, entered = (
            torch.ops.recurrent_mt.attentive_gru_backward(
                grad_states, grad_contexts, *arguments, ctx.products, ctx.counts, list(outputs)
            )
        )
        if grad_keys is None:
            grad_keys = packed.outer_products(grad_energies, entered, ctx.counts, keys)
        grad_values = packed.outer_products(outputs[2], grad_contexts, ctx.counts, values)
        return grad_inputs, grad_initial, grad_keys, grad_values, None, *grads, None, None


def _arguments(tensors: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """Initial states and memory; the six factors of the weights in a list; query, score and gate over time."""
    return *tensors[:4], list(tensors[4:10]), *tensors[10:]
