"""Additive attention of one step in Triton: scores, softmax, and context are one kernel, and so are their gradients.

A program handles one target and all positions of its source. tanh(W_a s + k_j), n × S × A numbers, stays in registers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..matrix import product
from ..triton_math import NUMBERS, accumulator, accumulator_dtype, tanh
from .backends import AttentionBackward, StepAttention, project_query
from .interface import AttentiveGRUWeights, Memory

MASKED = tl.constexpr(-1e30)
"""The energy of padding: finite, so that a source with nothing but padding has an attention, too."""


@triton.jit(do_not_specialize=["positions", "beam"])
def attend_kernel(
    queries,
    keys,
    values,
    padding_mask,
    score,
    contexts,
    attention,
    positions,
    beam,
    KEYS: tl.constexpr,
    VALUES: tl.constexpr,
    POSITIONS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Contexts (n, D) and attention (n, S) of queries (n, A); query i reads source i // beam."""
    row = tl.program_id(0).to(tl.int64)
    position = tl.arange(0, POSITIONS)[:, None]
    inside = position < positions
    place = (row // beam) * positions + position
    energy = tl.zeros([POSITIONS, 1], ACCUMULATOR)
    for start in range(0, KEYS, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        key = tl.load(keys + place * KEYS + column, mask=inside & (column < KEYS), other=0.0).to(ACCUMULATOR)
        query = tl.load(queries + row * KEYS + column, mask=column < KEYS, other=0.0).to(ACCUMULATOR)
        v = tl.load(score + column, mask=column < KEYS, other=0.0).to(ACCUMULATOR)
        energy += tl.sum(tanh(key + query) * v, axis=1)[:, None]
    padding = tl.load(padding_mask + place, mask=inside, other=1)
    energy = tl.where(inside, tl.where(padding != 0, MASKED, energy), float("-inf"))
    weight = tl.exp(energy - tl.max(energy, axis=0)[None, :])
    weight = weight / tl.sum(weight, axis=0)[None, :]
    tl.store(attention + row * positions + position, weight, mask=inside)
    for start in range(0, VALUES, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        value = tl.load(values + place * VALUES + column, mask=inside & (column < VALUES), other=0.0).to(ACCUMULATOR)
        context = tl.sum(weight * value, axis=0)[None, :]
        tl.store(contexts + row * VALUES + column, context, mask=column < VALUES)


@triton.jit(do_not_specialize=["positions"])
def attend_gradient_kernel(
    grad_contexts,
    attention,
    queries,
    keys,
    values,
    score,
    grad_queries,
    grad_keys,
    grad_score,
    positions,
    KEYS: tl.constexpr,
    VALUES: tl.constexpr,
    POSITIONS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Gradients of queries (n, A); adds those of keys (n, S, A), up to v_a, and of v_a, one row per source.

    Each source has one target per step, so no two programs add to the same place.
    """
    row = tl.program_id(0).to(tl.int64)
    position = tl.arange(0, POSITIONS)[:, None]
    inside = position < positions
    place = row * positions + position
    grad_weight = tl.zeros([POSITIONS, 1], ACCUMULATOR)
    for start in range(0, VALUES, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        value = tl.load(values + place * VALUES + column, mask=inside & (column < VALUES), other=0.0).to(ACCUMULATOR)
        grad = tl.load(grad_contexts + row * VALUES + column, mask=column < VALUES, other=0.0).to(ACCUMULATOR)
        grad_weight += tl.sum(value * grad, axis=1)[:, None]
    weight = tl.load(attention + place, mask=inside, other=0.0).to(ACCUMULATOR)
    grad_energy = weight * (grad_weight - tl.sum(weight * grad_weight, axis=0)[None, :])
    for start in range(0, KEYS, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        mask = inside & (column < KEYS)
        key = tl.load(keys + place * KEYS + column, mask=mask, other=0.0).to(ACCUMULATOR)
        query = tl.load(queries + row * KEYS + column, mask=column < KEYS, other=0.0).to(ACCUMULATOR)
        v = tl.load(score + column, mask=column < KEYS, other=0.0).to(ACCUMULATOR)
        t = tanh(key + query)
        slope = grad_energy * (1.0 - t * t)
        sums = grad_keys + place * KEYS + column
        tl.store(sums, tl.load(sums, mask=mask, other=0.0) + slope, mask=mask)
        tl.store(grad_queries + row * KEYS + column, v * tl.sum(slope, axis=0)[None, :], mask=column < KEYS)
        sums = grad_score + row * KEYS + column
        added = tl.sum(grad_energy * t, axis=0)[None, :]
        tl.store(sums, tl.load(sums, mask=column < KEYS, other=0.0) + added, mask=column < KEYS)


def _constants(memory: Memory) -> dict[str, object]:
    """The constants of both kernels and a program's warps: at least 16 columns are read together."""
    positions = triton.next_power_of_2(memory.keys.size(1))
    columns = max(16, NUMBERS // positions)
    return {
        "KEYS": memory.keys.size(2),
        "VALUES": memory.values.size(2),
        "POSITIONS": positions,
        "COLUMNS": columns,
        "ACCUMULATOR": accumulator(memory.keys),
        "num_warps": 4 if positions * columns <= 2 * NUMBERS else 8,
    }


class FusedAttention(StepAttention):
    """Additive attention as one kernel; dot-product attention consists of matrix products and is unchanged."""

    def attend(self, state: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor, Tensor]:
        if weights.query is None or weights.score is None:
            return super().attend(state, memory, weights)
        memory = Memory(*(tensor[: state.size(0)].contiguous() for tensor in memory))
        queries, (sources, positions) = project_query(state, weights.query), memory.padding_mask.shape
        contexts = state.new_empty(state.size(0), memory.values.size(2))
        attention = state.new_empty(state.size(0), positions)
        attend_kernel[(state.size(0),)](
            queries, *memory, weights.score, contexts, attention, positions, state.size(0) // sources,
            **_constants(memory),
        )  # fmt: skip
        return contexts, attention

    def backward(self, memory: Memory, weights: AttentiveGRUWeights, attention: Tensor) -> AttentionBackward:
        if weights.query is None or weights.score is None:
            return super().backward(memory, weights, attention)
        return FusedAttentionBackward(memory, weights, attention, weights.query, weights.score)


class FusedAttentionBackward(AttentionBackward):
    """The gradients of additive attention, one kernel per step; sums over the steps are at least in float32."""

    def __init__(
        self, memory: Memory, weights: AttentiveGRUWeights, attention: Tensor, query_weight: Tensor, score: Tensor
    ) -> None:
        keys, dtype = memory.keys, accumulator_dtype(memory.keys)
        self.query_weight, self.score = query_weight, score
        self.memory, self.weights = Memory(*(tensor.contiguous() for tensor in memory)), weights
        self.attention = attention.contiguous()
        self.grad_keys = torch.zeros_like(self.memory.keys, dtype=dtype)
        self.grad_queries = attention.new_empty(attention.size(0), keys.size(2))
        self.grad_scores = torch.zeros(keys.size(0), keys.size(2), dtype=dtype, device=keys.device)

    def step(self, grad_context: Tensor, state: Tensor, rows: slice) -> Tensor:
        keys, values, _ = self.memory
        grad_queries = self.grad_queries[rows]
        attend_gradient_kernel[(state.size(0),)](
            grad_context.contiguous(), self.attention[rows], project_query(state, self.query_weight), keys, values,
            self.score, grad_queries, self.grad_keys, self.grad_scores, keys.size(1),
            **_constants(self.memory),
        )  # fmt: skip
        return product(grad_queries, self.query_weight).to(grad_queries.dtype)

    def finish(self, states: Tensor, counts: Sequence[int]) -> tuple[Tensor, Tensor | None, Tensor | None]:
        grad_keys = self.grad_keys.mul_(self.score).to(states.dtype)
        grad_weight = product(self.grad_queries.t(), states.to(self.query_weight.dtype))
        return grad_keys, grad_weight, self.grad_scores.sum(dim=0).to(states.dtype)
