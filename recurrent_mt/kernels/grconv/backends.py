"""The gated recursive convolution: ``packed`` with its own backward pass, ``native`` in C++, ``fused`` in Triton.

It is computed one level at a time: only the nodes of the pyramids, whatever else is in the batch. ``native`` is
``packed`` with each level in C++, ``../native/grconv.cpp``; ``fused`` has everything around each level's matrix
products in Triton.

For the backward pass, we keep the candidate and gates of every node, and the nodes of as many levels as fit into a few
megabytes, or of every √L-th of L levels if that is more. The nodes in between are merged again on the way back, a few
levels at a time, which takes no matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native, check_triton
from .interface import GRConvOutput, GRConvWeights, Levels
from .level import Level, LevelWeights, PackedLevel, PyramidLayout


def packed_grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    counts: Sequence[int],
    activation: str,
    levels: Levels,
    *,
    level: type[Level] = PackedLevel,
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` in PyTorch, on packed rows.

    ``level`` is how one level is computed.
    """
    top = min(levels.height or len(counts), len(counts) - 1)
    both = torch.cat([weights.left, weights.gate_left, weights.right, weights.gate_right])
    bias = torch.cat([weights.bias, weights.gate_bias])
    plan = _Plan(
        tuple(counts),
        activation,
        top,
        returned=min(levels.annotation_height, top),
        spacing=_spacing(counts, top, leaves),
        # Asked here, as within a Function gradients are always off.
        differentiable=torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (leaves, both, bias)),
        level=level,
    )
    return GRConvOutput(*_GRConv.apply(leaves, both.unflatten(0, (2, -1)), bias, plan))


KEPT_BYTES = 1 << 24
"""How much may be kept of nodes that could be merged again: merging all of them again takes a twelfth of the time."""


def _spacing(counts: Sequence[int], top: int, leaves: Tensor) -> int:
    """The smallest spacing of levels whose nodes are kept that respects :data:`KEPT_BYTES`, at most √L."""
    most = isqrt(max(1, top))
    nodes = [0, *(sum(counts[level:]) for level in range(1, top))]
    bytes_a_node = leaves.size(1) * leaves.element_size()
    return next((step for step in range(1, most) if sum(nodes[::step]) * bytes_a_node <= KEPT_BYTES), most)


class _Plan(NamedTuple):
    """What to compute and keep.

    Attributes:
        counts: as in :class:`~recurrent_mt.kernels.packing.Packing`.
        activation: the candidates' activation.
        top: the last level.
        returned: the last level whose nodes are returned.
        spacing: the nodes of every so many levels are kept, the leaves among them.
        differentiable: whether there may be a backward pass.
        level: how one level is computed.
    """

    counts: tuple[int, ...]
    activation: str
    top: int
    returned: int
    spacing: int
    differentiable: bool
    level: type[Level]

    def kept_levels(self) -> range:
        """The levels whose nodes are kept; those of the last one are not needed."""
        return range(0, max(1, self.top) if self.differentiable else 0, self.spacing)


def _nodes_of_sentences(counts: Sequence[int], like: Tensor) -> Tensor:
    """How many rows each sentence has: (``counts[0]``, 1)."""
    running = torch.tensor(counts)[:, None] > torch.arange(counts[0])
    return running.sum(dim=0).to(like).unsqueeze(1)


def _means(nodes: Tensor, counts: Sequence[int]) -> Tensor:
    """The mean of each sentence's nodes on one level; they are summed in the order of their positions."""
    if len(counts) == 1:
        return nodes
    means = nodes[: counts[0]].clone()
    for rows in nodes[counts[0] :].split(list(counts[1:])):
        means[: rows.size(0)] += rows
    return means.div_(_nodes_of_sentences(counts, nodes))


def _means_gradient(grad: Tensor, counts: Sequence[int]) -> Tensor:
    share = grad / _nodes_of_sentences(counts, grad)
    return torch.cat([share[:count] for count in counts])


class _GRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, both: Tensor, bias: Tensor, plan: _Plan) -> tuple[Tensor, Tensor, Tensor]:
        counts, nodes, pyramid = plan.counts, leaves, PyramidLayout(plan.counts, leaves.device, plan.activation)
        weights = plan.level.prepare(LevelWeights(both, bias))
        summaries = leaves.new_empty(counts[0], leaves.size(1))
        kept, candidates, gates, returned = [leaves], [], [], []
        for level in range(1, plan.top + 1):
            summaries[counts[level] : counts[level - 1]] = nodes[counts[level] : counts[level - 1]]
            candidate, w, nodes = plan.level(pyramid, level, nodes).grow(weights)
            gates.append(w)
            if plan.differentiable:
                candidates.append(candidate)
            if level in plan.kept_levels():
                kept.append(nodes)
            if level <= plan.returned:
                returned.append(nodes)
        summaries[: counts[plan.top]] = _means(nodes, counts[plan.top :])
        ctx.save_for_backward(both, bias, *kept, *candidates, *(gates if plan.differentiable else []))
        ctx.plan, ctx.pyramid = plan, pyramid
        all_gates = torch.cat(gates) if gates else leaves.new_zeros(0, 3)
        returned_nodes = torch.cat(returned) if returned else leaves.new_zeros(0, leaves.size(1))
        ctx.mark_non_differentiable(*([all_gates] if returned else [all_gates, returned_nodes]))
        return summaries, all_gates, returned_nodes

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_summaries: Tensor, _: Tensor, grad_returned: Tensor) -> tuple[Tensor | None, ...]:
        # Read once: non-reentrant checkpointing gives each saved tensor out a single time.
        both, bias, *saved = ctx.saved_tensors
        plan, pyramid = ctx.plan, ctx.pyramid
        weights = plan.level.prepare(LevelWeights(both, bias))
        counts, top = plan.counts, plan.top
        sums = plan.level.zero_sums(weights)
        grad_levels = grad_returned.split([pyramid.size(level) for level in range(1, plan.returned + 1)])
        grad = _means_gradient(grad_summaries[: counts[top]], counts[top:])
        for number, level, candidate, w in _levels_downward(plan, pyramid, weights, saved):
            if number <= plan.returned:
                grad += grad_levels[number - 1]
            grad = level.backward(grad, candidate, w, weights=weights, sums=sums)
            grad[counts[number] : counts[number - 1]] += grad_summaries[counts[number] : counts[number - 1]]
        return grad, *(total.to(weight.dtype) for total, weight in zip(sums, weights)), None


def _levels_downward(
    plan: _Plan, pyramid: PyramidLayout, weights: LevelWeights, saved: Sequence[Tensor]
) -> Iterator[tuple[int, Level, Tensor, Tensor]]:
    """Every level from the last to the first, with its number, candidates and gates."""
    kept_levels = plan.kept_levels()
    kept, rest = saved[: len(kept_levels)], saved[len(kept_levels) :]
    candidates, gates = rest[: plan.top], rest[plan.top :]
    for start, nodes in reversed(list(zip(kept_levels, kept))):
        levels: list[tuple[int, Level, Tensor, Tensor]] = []
        last = min(start + plan.spacing, plan.top)
        for number in range(start + 1, last + 1):
            level = plan.level(pyramid, number, nodes)
            candidate, w = candidates[number - 1], gates[number - 1]
            if number < last:
                nodes = level.merge(candidate, w)
            levels.append((number, level, candidate, w))
        while levels:
            yield levels.pop()


def native_grconv(
    leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` in C++."""
    check_native("grconv", leaves)
    return packed_grconv(leaves.contiguous(), weights, counts, activation, levels, level=NativeLevel)


class NativeWeights(LevelWeights):
    """The weights, also in the order in which C++ multiplies by them: copied once for all levels."""

    @cached_property
    def upward(self) -> tuple[Tensor, Tensor]:
        """For rows of left and of right children."""
        left, right = (torch.ops.recurrent_mt.right_factor(weight.t()) for weight in (self.left, self.right))
        return left, right

    @cached_property
    def downward(self) -> tuple[Tensor, Tensor]:
        """Returns the matrices in the layout that the gradients of their products need."""
        left, right = (torch.ops.recurrent_mt.right_factor(weight) for weight in (self.left, self.right))
        return left, right


class NativeLevel(Level):
    """A level in three operations; left children are found by their rows."""

    def __init__(self, pyramid: PyramidLayout, level: int, below: Tensor) -> None:
        self.children = below, pyramid.left(level), pyramid.first(level)
        self.is_tanh = pyramid.is_tanh

    @staticmethod
    def prepare(weights: LevelWeights) -> NativeWeights:
        return NativeWeights(*weights)

    def grow(self, weights: LevelWeights) -> tuple[Tensor, Tensor, Tensor]:
        assert isinstance(weights, NativeWeights)
        return torch.ops.recurrent_mt.grconv_level(*self.children, *weights.upward, weights.bias, self.is_tanh)

    def merge(self, candidate: Tensor, gates: Tensor) -> Tensor:
        return torch.ops.recurrent_mt.grconv_merge(*self.children, candidate, gates)

    def backward(
        self, grad: Tensor, candidate: Tensor, gates: Tensor, *, weights: LevelWeights, sums: LevelWeights
    ) -> Tensor:
        assert isinstance(weights, NativeWeights)
        return torch.ops.recurrent_mt.grconv_level_backward(
            grad, *self.children, candidate, gates, *weights.downward, self.is_tanh, *sums.both, sums.bias
        )


def fused_grconv(
    leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` with Triton kernels."""
    check_triton("grconv", leaves)
    from .triton_level import FusedLevel

    return packed_grconv(leaves.contiguous(), weights, counts, activation, levels, level=FusedLevel)
