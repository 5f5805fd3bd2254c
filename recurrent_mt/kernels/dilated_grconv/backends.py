"""The dilated gated recursive convolution: ``packed`` in PyTorch, ``native`` in C++, ``fused`` in Triton.

``packed`` goes one level at a time, over all nodes of a batch that are new on it; ``fused`` is the same with everything
around matrix products in Triton. ``native`` is ``../native/dilated_grconv.cpp``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native, check_triton
from ..grconv.level import Level, LevelWeights, PackedLevel, PyramidLayout
from ..packing import rows_but_last
from .interface import DilatedGRConvOutput, DilatedGRConvWeights, count_levels, last_rows, own_set


def packed_dilated_grconv(
    leaves: Tensor,
    weights: DilatedGRConvWeights,
    counts: Sequence[int],
    height: int,
    *,
    level: type[Level] = PackedLevel,
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` in PyTorch.

    ``level`` is how one level is computed.
    """
    plan = _Plan(tuple(counts), count_levels(counts, height), level)
    nodes, sums, gates = _PackedDilatedGRConv.apply(leaves, *stacked(weights, plan.levels), plan)
    return DilatedGRConvOutput(nodes, sums, nodes.index_select(0, last_rows(counts, nodes.device)), gates)


def stacked(weights: DilatedGRConvWeights, levels: int) -> tuple[Tensor, Tensor]:
    """What the levels use, candidate above gates: matrices (L, 2, H + 3, H), left and right; biases (L, H + 3)."""
    used = max(1, levels)
    # No slice that is the whole: its gradient would be copied.
    W_l, W_r, b, G_l, G_r, b_G = (sets if sets.size(0) <= used else sets[:used] for sets in weights)
    return torch.cat([W_l, G_l, W_r, G_r], dim=1).unflatten(1, (2, -1)), torch.cat([b, b_G], dim=1)


class Dilation(PyramidLayout):
    """Where the nodes are: one ends at each word, and on level t the left child is the one 2^(t−1) words before.

    The words that have as many before them come last in packed order, and no node changes for the others.
    """

    def __init__(self, counts: Sequence[int], device: torch.device) -> None:
        super().__init__(counts, device)
        self._left_of: dict[int, Tensor] = {}
        self._parents_of: dict[int, Tensor] = {}

    def size(self, level: int) -> int:
        """How many nodes are new on a level."""
        return self._before[-1] - self.first(level)

    def size_below(self, level: int) -> int:
        """How many nodes there are on the level below, or on any."""
        return self._before[-1]

    def first(self, level: int) -> int:
        """How many of the nodes below are not right children."""
        return self._before[1 << level - 1]

    def left_leaves(self, level: int) -> tuple[Tensor, int]:
        """The left children as rows, and nothing to subtract."""
        if level not in self._left_of:
            self._left_of[level] = rows_but_last(self.counts, 1 << level - 1, self._left.device)
        return self._left_of[level], 0

    def parents(self, level: int) -> tuple[Tensor, int]:
        """For each node below, the node whose left child it is, or a negative number; and nothing to subtract."""
        if level not in self._parents_of:
            left = self.left(level)
            nodes = torch.arange(left.numel(), device=left.device)
            self._parents_of[level] = left.new_full((self._before[-1],), -1).index_copy_(0, left, nodes)
        return self._parents_of[level], 0


@functools.lru_cache(maxsize=2)  # both directions have the same, and so has the backward pass
def dilation(counts: tuple[int, ...], device: torch.device) -> Dilation:
    """Where the nodes of a batch are."""
    return Dilation(counts, device)


class _Plan(NamedTuple):
    counts: tuple[int, ...]
    levels: int
    level: type[Level]


class _PackedDilatedGRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, both: Tensor, bias: Tensor, plan: _Plan) -> tuple[Tensor, Tensor, Tensor]:
        layout = dilation(plan.counts, leaves.device)
        nodes, sums, kept, shown = leaves, leaves.clone(), [], [leaves.new_zeros(0, 3)]
        for number in range(1, plan.levels + 1):
            weights = plan.level.prepare(_weights_of(number, both, bias))
            candidate, w, new = plan.level(layout, number, nodes).grow(weights)
            kept += [nodes, candidate, w]
            shown.append(w)
            first = layout.first(number)
            nodes = torch.cat([nodes[:first], new])
            sums[first:] += new
        gates = torch.cat(shown)
        ctx.save_for_backward(both, bias, *kept)
        ctx.plan, ctx.layout = plan, layout
        ctx.mark_non_differentiable(gates)
        return nodes.clone() if nodes is leaves else nodes, sums, gates

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_nodes: Tensor, grad_sums: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        both, bias, *kept = ctx.saved_tensors
        plan, layout = ctx.plan, ctx.layout
        totals = plan.level.zero_sums(LevelWeights(both, bias))
        grad = grad_nodes
        for number in reversed(range(1, len(kept) // 3 + 1)):
            below, candidate, w = kept[3 * number - 3 : 3 * number]
            weights = plan.level.prepare(_weights_of(number, both, bias))
            first = layout.first(number)
            through = plan.level(layout, number, below).backward(
                grad[first:] + grad_sums[first:], candidate, w, weights=weights, sums=_weights_of(number, *totals)
            )
            through[:first] += grad[:first]
            grad = through
        return grad + grad_sums, *(total.to(weight.dtype) for total, weight in zip(totals, (both, bias))), None


def _weights_of(level: int, both: Tensor, bias: Tensor) -> LevelWeights:
    """Views of a level's."""
    own = own_set(level, both.size(0))
    return LevelWeights(both[own], bias[own])


def native_dilated_grconv(
    leaves: Tensor,
    weights: DilatedGRConvWeights,
    counts: Sequence[int],
    height: int,
    *,
    products: torch.dtype,
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` in C++.

    ``products`` is the format of products.
    """
    check_native("dilated_grconv", leaves)
    given = tuple(counts), height, products
    both, bias = stacked(weights, count_levels(counts, height))
    return DilatedGRConvOutput(*_NativeDilatedGRConv.apply(leaves, both, bias, *given))


class _NativeDilatedGRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, matrices: Tensor, bias: Tensor, *given: Any) -> tuple[Tensor, ...]:
        operation = torch.ops.recurrent_mt.dilated_grconv
        nodes, sums, summaries, candidates, gates, kept = operation(leaves, matrices, bias, *given)
        ctx.save_for_backward(leaves, matrices, bias, nodes, candidates, gates, kept)
        ctx.given = given
        ctx.mark_non_differentiable(gates)
        ctx.set_materialize_grads(False)
        return nodes, sums, summaries, gates

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        leaves, matrices, bias, *made = ctx.saved_tensors
        operation = torch.ops.recurrent_mt.dilated_grconv_backward
        return *operation(*grads[:3], leaves, matrices, bias, *ctx.given, *made), None, None, None


def fused_dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, counts: Sequence[int], height: int
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` with Triton kernels."""
    check_triton("dilated_grconv", leaves)
    from ..grconv.triton_level import FusedLevel

    return packed_dilated_grconv(leaves.contiguous(), weights, counts, height, level=FusedLevel)
