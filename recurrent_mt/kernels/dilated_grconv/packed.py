"""The dilated gated recursive convolution one level at a time, over all nodes of a batch that are new on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..grconv.level import Level, LevelWeights, PackedLevel, PyramidLayout, mean_gates
from ..packing import rows_but_last
from .interface import DilatedGRConvOutput, DilatedGRConvWeights, count_levels, last_rows, own_set


def dilated_grconv(
    leaves: Tensor,
    weights: DilatedGRConvWeights,
    counts: Sequence[int],
    activation: str,
    *,
    level: type[Level] = PackedLevel,
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` in PyTorch.

    ``level`` is how one level is computed.
    """
    plan = _Plan(tuple(counts), activation, level)
    nodes, sums, gates = _DilatedGRConv.apply(leaves, *stacked(weights, counts), plan)
    return DilatedGRConvOutput(nodes, sums, nodes.index_select(0, last_rows(counts, nodes.device)), gates)


def stacked(weights: DilatedGRConvWeights, counts: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The sets in use, candidate above gates: matrices (L, 2, H + G, H), left and right, and biases (L', H + G)."""
    W_l, W_r, b, G_l, G_r, b_G = (sets[: max(1, count_levels(counts))] for sets in weights)
    return torch.cat([W_l, G_l, W_r, G_r], dim=1).unflatten(1, (2, -1)), torch.cat([b, b_G], dim=1)


class Dilation(PyramidLayout):
    """Where the nodes are: one ends at each word, and on level t the left child is the one 2^(t−1) words before.

    The words that have as many before them come last in packed order, and no node changes for the others.
    """

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
        return rows_but_last(self.counts, 1 << level - 1, self._left.device), 0

    def parents(self, level: int) -> tuple[Tensor, int]:
        """For each node below, the node whose left child it is, or a negative number; and nothing to subtract."""
        left = self.left(level)
        parents = left.new_full((self._before[-1],), -1)
        return parents.index_copy_(0, left, torch.arange(left.numel(), device=left.device)), 0


class _Plan(NamedTuple):
    counts: tuple[int, ...]
    activation: str
    level: type[Level]


class _DilatedGRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, both: Tensor, bias: Tensor, plan: _Plan) -> tuple[Tensor, Tensor, Tensor]:
        dilation = Dilation(plan.counts, leaves.device, plan.activation)
        nodes, sums, kept, shown = leaves, leaves.clone(), [], [leaves.new_zeros(0, 3)]
        for number in range(1, count_levels(plan.counts) + 1):
            weights = plan.level.prepare(_weights_of(number, both, bias))
            candidate, w, new = plan.level(dilation, number, nodes).grow(weights)
            kept += [nodes, candidate, w]
            shown.append(mean_gates(w))
            first = dilation.first(number)
            nodes = torch.cat([nodes[:first], new])
            sums[first:] += new
        gates = torch.cat(shown)
        ctx.save_for_backward(both, bias, *kept)
        ctx.plan, ctx.dilation = plan, dilation
        ctx.mark_non_differentiable(gates)
        return nodes.clone() if nodes is leaves else nodes, sums, gates

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_nodes: Tensor, grad_sums: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        both, bias, *kept = ctx.saved_tensors
        plan, dilation = ctx.plan, ctx.dilation
        totals = plan.level.zero_sums(LevelWeights(both, bias))
        grad = grad_nodes
        for number in reversed(range(1, len(kept) // 3 + 1)):
            below, candidate, w = kept[3 * number - 3 : 3 * number]
            weights = plan.level.prepare(_weights_of(number, both, bias))
            first = dilation.first(number)
            through = plan.level(dilation, number, below).backward(
                grad[first:] + grad_sums[first:], candidate, w, weights=weights, sums=_weights_of(number, *totals)
            )
            through[:first] += grad[:first]
            grad = through
        return grad + grad_sums, *(total.to(weight.dtype) for total, weight in zip(totals, (both, bias))), None


def _weights_of(level: int, both: Tensor, bias: Tensor) -> LevelWeights:
    """Views of a level's."""
    return LevelWeights(both[own_set(level, both.size(0))], bias[own_set(level, bias.size(0))])
