"""Additive attention of one step in Triton: energies are one kernel, softmax and context another, gradients likewise.

A target has several programs, each for some positions of its source or for some columns. tanh(W_a s + k_j), n × S × A
numbers, stays in registers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from .attention import (
    AttentionBackward,
    AttentionWeights,
    AttentiveGRUWeights,
    Memory,
    StepAttention,
    needs_gradients,
    packed_attend,
    project_query,
)
from .attentive_gru import Parts, packed_attentive_gru, recorded_attentive_gru
from .graphs import is_worthwhile
from .matrix import product
from .triton_gru import FUSED
from .triton_math import NUMBERS, accumulator, accumulator_dtype, tanh

MASKED = tl.constexpr(-1e30)
"""The energy of padding: finite, so that a source with nothing but padding has an attention, too."""


@triton.jit(do_not_specialize=["positions", "beam"])
def energy_kernel(
    queries,
    keys,
    score,
    energies,
    positions,
    beam,
    KEYS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """The energies (n, S) of queries (n, A) and some positions' keys; query i reads source i // beam."""
    row = tl.program_id(0).to(tl.int64)
    position = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = position < positions
    place = (row // beam) * positions + position
    energy = tl.zeros([ROWS, 1], ACCUMULATOR)
    for start in range(0, KEYS, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        key = tl.load(keys + place * KEYS + column, mask=inside & (column < KEYS), other=0.0).to(ACCUMULATOR)
        query = tl.load(queries + row * KEYS + column, mask=column < KEYS, other=0.0).to(ACCUMULATOR)
        v = tl.load(score + column, mask=column < KEYS, other=0.0).to(ACCUMULATOR)
        energy += tl.sum(tanh(key + query) * v, axis=1)[:, None]
    tl.store(energies + row * positions + position, energy, mask=inside)


@triton.jit(do_not_specialize=["positions", "beam"])
def context_kernel(
    energies,
    values,
    padding_mask,
    contexts,
    attention,
    positions,
    beam,
    VALUES: tl.constexpr,
    POSITIONS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Some columns of the contexts (n, D), and, by the programs of the first ones, the attention (n, S)."""
    row = tl.program_id(0).to(tl.int64)
    position = tl.arange(0, POSITIONS)[:, None]
    inside = position < positions
    place = (row // beam) * positions + position
    energy = tl.load(energies + row * positions + position, mask=inside, other=0.0)
    padding = tl.load(padding_mask + place, mask=inside, other=1)
    energy = tl.where(inside, tl.where(padding != 0, MASKED, energy), float("-inf"))
    weight = tl.exp(energy - tl.max(energy, axis=0)[None, :])
    weight = weight / tl.sum(weight, axis=0)[None, :]
    tl.store(attention + row * positions + position, weight, mask=inside & (tl.program_id(1) == 0))
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    value = tl.load(values + place * VALUES + column, mask=inside & (column < VALUES), other=0.0).to(ACCUMULATOR)
    context = tl.sum(weight * value, axis=0)[None, :]
    tl.store(contexts + row * VALUES + column, context, mask=column < VALUES)


@triton.jit(do_not_specialize=["positions"])
def weight_gradient_kernel(
    grad_contexts,
    values,
    grad_weights,
    positions,
    VALUES: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """The gradients (n, S) of some positions' attention."""
    row = tl.program_id(0).to(tl.int64)
    position = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = position < positions
    place = row * positions + position
    grad_weight = tl.zeros([ROWS, 1], ACCUMULATOR)
    for start in range(0, VALUES, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        value = tl.load(values + place * VALUES + column, mask=inside & (column < VALUES), other=0.0).to(ACCUMULATOR)
        grad = tl.load(grad_contexts + row * VALUES + column, mask=column < VALUES, other=0.0).to(ACCUMULATOR)
        grad_weight += tl.sum(value * grad, axis=1)[:, None]
    tl.store(grad_weights + place, grad_weight, mask=inside)


@triton.jit(do_not_specialize=["positions"])
def energy_gradient_kernel(
    grad_weights,
    attention,
    queries,
    keys,
    score,
    grad_queries,
    grad_keys,
    grad_score,
    positions,
    KEYS: tl.constexpr,
    POSITIONS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Some columns of the gradients of queries (n, A); adds those of keys (n, S, A), up to v_a, and of v_a, by source.

    Each source has one target per step, so no two programs add to the same place.
    """
    row = tl.program_id(0).to(tl.int64)
    position = tl.arange(0, POSITIONS)[:, None]
    inside = position < positions
    place = row * positions + position
    grad_weight = tl.load(grad_weights + place, mask=inside, other=0.0)
    weight = tl.load(attention + place, mask=inside, other=0.0).to(ACCUMULATOR)
    grad_energy = weight * (grad_weight - tl.sum(weight * grad_weight, axis=0)[None, :])
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
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


ROWS = 4
"""Positions of a program that sums over columns: so few that a small batch, too, has programs for a whole GPU."""


def _by_positions(width: int, positions: int, like: Tensor) -> tuple[int, dict[str, object]]:
    """How many programs a row takes whose programs sum over columns of some positions, and their constants."""
    columns = min(triton.next_power_of_2(width), NUMBERS // ROWS)
    return triton.cdiv(positions, ROWS), {"ROWS": ROWS, "COLUMNS": columns, "ACCUMULATOR": accumulator(like)}


def _by_columns(width: int, positions: int, like: Tensor) -> tuple[int, dict[str, object]]:
    """The same where programs sum over all positions of some columns, at least 16, which are read together."""
    places = triton.next_power_of_2(positions)
    columns = max(16, NUMBERS // places)
    constants = {"POSITIONS": places, "COLUMNS": columns, "ACCUMULATOR": accumulator(like)}
    return triton.cdiv(width, columns), {**constants, "num_warps": 4 if places * columns <= 2 * NUMBERS else 8}


class FusedAttention(StepAttention):
    """Additive attention as two kernels; dot-product attention consists of matrix products and is unchanged."""

    def attend(
        self, state: Tensor, memory: Memory, weights: AttentionWeights | AttentiveGRUWeights
    ) -> tuple[Tensor, Tensor]:
        if weights.query is None or weights.score is None:
            return super().attend(state, memory, weights)
        memory = Memory(*(tensor[: state.size(0)].contiguous() for tensor in memory))
        queries, (sources, positions) = project_query(state, weights.query), memory.padding_mask.shape
        (keys, values, padding_mask), rows = memory, state.size(0)
        beam, size = rows // sources, values.size(2)
        contexts, attention = state.new_empty(rows, size), state.new_empty(rows, positions)
        energies = torch.empty_like(attention, dtype=accumulator_dtype(keys))
        programs, constants = _by_positions(keys.size(2), positions, keys)
        energy_kernel[rows, programs](
            queries, keys, weights.score, energies, positions, beam, KEYS=keys.size(2), **constants
        )
        programs, constants = _by_columns(size, positions, keys)
        context_kernel[rows, programs](
            energies, values, padding_mask, contexts, attention, positions, beam, VALUES=size, **constants
        )
        return contexts, attention

    def backward(self, memory: Memory, weights: AttentiveGRUWeights, attention: Tensor) -> AttentionBackward:
        if weights.query is None or weights.score is None:
            return super().backward(memory, weights, attention)
        return FusedAttentionBackward(memory, weights, attention, weights.query, weights.score)


FUSED_ATTENTION = FusedAttention()
"""A single one, by which :mod:`.graphs` knows a recurrence again."""


class FusedAttentionBackward(AttentionBackward):
    """The gradients of additive attention, two kernels per step; sums over the steps are at least in float32."""

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
        attention, grad_queries = self.attention[rows], self.grad_queries[rows]
        (count, positions), (width, size) = attention.shape, (keys.size(2), values.size(2))
        grad_weights = torch.empty_like(attention, dtype=accumulator_dtype(keys))
        programs, constants = _by_positions(size, positions, keys)
        weight_gradient_kernel[count, programs](
            grad_context.contiguous(), values, grad_weights, positions, VALUES=size, **constants
        )
        programs, constants = _by_columns(width, positions, keys)
        energy_gradient_kernel[count, programs](
            grad_weights, attention, project_query(state, self.query_weight), keys, self.score, grad_queries,
            self.grad_keys, self.grad_scores, positions, KEYS=width, **constants,
        )  # fmt: skip
        return product(grad_queries, self.query_weight).to(grad_queries.dtype)

    def finish(self, states: Tensor, batch_sizes: Sequence[int]) -> tuple[Tensor, Tensor | None, Tensor | None]:
        grad_keys = self.grad_keys.mul_(self.score).to(states.dtype)
        grad_weight = product(self.grad_queries.t(), states.to(self.query_weight.dtype))
        return grad_keys, grad_weight, self.grad_scores.sum(dim=0).to(states.dtype)


def fused_attend(
    state: Tensor, memory: Memory, weights: AttentionWeights, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attention.attend` with Triton kernels; with gradients, as ``packed``."""
    if needs_gradients(state, memory, weights):
        return packed_attend(state, memory, weights, products)
    return FUSED_ATTENTION.attend(state, memory, weights.to(products))


def fused_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    batch_sizes: Sequence[int],
    products: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` with Triton kernels.

    If there are enough steps, they are in CUDA graphs.
    """
    # A recording has as many sources as targets.
    recorded = is_worthwhile(inputs, batch_sizes) and initial.size(0) == memory.keys.size(0)
    run = recorded_attentive_gru if recorded else packed_attentive_gru
    return run(inputs, initial, memory, weights, batch_sizes, products, Parts(FUSED, FUSED_ATTENTION))
