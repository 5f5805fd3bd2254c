"""The dilated gated recursive convolution over a packed batch."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dispatch import Operation, in_triton
from .grconv import GRConvWeights, in_packed_order, reference_merge
from .grconv_level import Level, LevelWeights, PackedLevel, PyramidLayout
from .packing import rows_but_last


class DilatedGRConvWeights(NamedTuple):
    """Sets of weights, one for each of the lowest levels; every level above the last set's shares it.

    One set, L = 1, is shared by all levels, as in Cho et al. (2014b). Gates have the order of
    :class:`~recurrent_mt.kernels.grconv.GRConvWeights`.
    """

    left: Tensor  # (L, H, H) W^l, from the left child to the candidate
    right: Tensor  # (L, H, H) W^r, from the right child to the candidate
    bias: Tensor  # (L, H) b
    gate_left: Tensor  # (L, 3, H) G^l, from the left child to the gates
    gate_right: Tensor  # (L, 3, H) G^r, from the right child to the gates
    gate_bias: Tensor  # (L, 3) b_G

    def level(self, number: int) -> GRConvWeights:
        """The weights of one level, counted from 1."""
        return GRConvWeights(*(sets[own_set(number, sets.size(0))] for sets in self))

    def check(self, size: int) -> None:
        """Rejects weights that do not fit nodes of that width or each other.

        Raises:
            ValueError: naming the weight.
        """
        for name, sets in zip(self._fields, self):
            if sets.size(0) != self.left.size(0):
                raise ValueError(f"the weight {name!r} must have {self.left.size(0)} sets, not {sets.size(0)}")
        self.level(1).check(size)


class DilatedGRConvOutput(NamedTuple):
    """The outputs for a packed batch."""

    #: (N, H) the highest node that ends at each word: it has merged all words up to there, or the last 2^height
    nodes: Tensor
    sums: Tensor  # (N, H) the sum of all nodes that end at each word, its leaf among them, each counted once
    #: (``batch_sizes[0]``, H) in packed order: the highest node of each sentence's last word: its root, if the height
    #: allows one
    summaries: Tensor
    #: (M, 3) [new, left, right] of every node, level by level, and within a level packed like the words that have one:
    #: on level t, those with at least 2^(t−1) before them. They carry no gradient.
    gates: Tensor


def dilated_grconv(
    leaves: Tensor,
    weights: DilatedGRConvWeights,
    *,
    batch_sizes: Sequence[int],
    height: int = 0,
) -> DilatedGRConvOutput:
    """Merges spans that end at the same word with those before them, level by level, until all words are merged.

    On level t, from 1 to ⌈log₂ n⌉, the node at word j joins l, the node at word j − 2^(t−1) of the level below, with r,
    the one at j::

        h̃ = tanh(W^l l + W^r r + b)    [w_c w_l w_r] = softmax(G^l l + G^r r + b_G)    h = w_c h̃ + w_l l + w_r r

    A node whose left child would be before the sentence stays what it is. So spans double and never overlap, a word
    passes ⌈log₂ n⌉ merges at most, and the highest node at word j has merged words 0 to j, each once. The merge is that
    of Cho et al. (2014b), see :func:`recurrent_mt.kernels.grconv.grconv`; the distances are those of the dilated
    convolutions of ByteNet (Kalchbrenner et al. 2016, "Neural Machine Translation in Linear Time"). To put the two
    together, and to let levels have weights of their own, is this project's own. A sentence of n words costs fewer than
    n ⌈log₂ n⌉ nodes.

    Args:
        leaves: (N, H) packed rows.
        weights: of all levels.
        batch_sizes: as in :class:`~recurrent_mt.kernels.packing.Packing`.
        height: K, the last level, so that the highest node at word j has merged the last 2^K words up to it, for a cost
            of K nodes a word at most; 0: the level that has merged all words.

    Raises:
        ValueError: if shapes do not fit together, or if an implementation is asked for that cannot run here.
    """
    weights.check(leaves.size(1))
    if leaves.size(0) != sum(batch_sizes):
        raise ValueError(f"{sum(batch_sizes)} leaves are expected, but there are {leaves.size(0)}")
    if not batch_sizes:
        nothing = leaves.new_zeros(0, leaves.size(1))
        return DilatedGRConvOutput(nothing, nothing, nothing, leaves.new_zeros(0, 3))
    call = DILATED_GRCONV.call(weights.left)
    with call.outside_autocast:
        return call.run(leaves.to(call.states), weights, tuple(batch_sizes), height, call.products)


def own_set(level: int, sets: int) -> int:
    """Which of so many sets of weights a level has, which is counted from 1."""
    return min(level, sets) - 1


def count_levels(batch_sizes: Sequence[int], height: int) -> int:
    """⌈log₂ n⌉ for the longest sentence of a batch, of n words, but at most the height, if that is not 0."""
    levels = (len(batch_sizes) - 1).bit_length() if batch_sizes else 0
    return min(levels, height) if height else levels


def reference_dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, batch_sizes: Sequence[int], height: int, products: torch.dtype
) -> DilatedGRConvOutput:
    """Computes :func:`dilated_grconv` as a loop over sentences and levels."""
    positions = leaves.split(list(batch_sizes))
    nodes, sums, gates, summaries = {}, {}, {}, []
    for sentence in range(batch_sizes[0]):
        h = torch.stack([rows[sentence] for rows in positions if rows.size(0) > sentence])  # (n, H)
        total, level, distance = h, 1, 1
        while distance < h.size(0) and level <= (height or level):
            new, w = reference_merge(h[:-distance], h[distance:], weights.level(level), torch.tanh)
            total = torch.cat([total[:distance], total[distance:] + new])
            h = torch.cat([h[:distance], new])
            for position in range(new.size(0)):
                gates[level, position, sentence] = w[position].detach()
            level, distance = level + 1, 2 * distance
        for position in range(h.size(0)):
            nodes[position, sentence], sums[position, sentence] = h[position], total[position]
        summaries.append(h[-1])
    empty = leaves.new_zeros(0, leaves.size(1))
    return DilatedGRConvOutput(
        in_packed_order(nodes, empty),
        in_packed_order(sums, empty),
        torch.stack(summaries),
        in_packed_order(gates, leaves.new_zeros(0, 3)),
    )


def packed_dilated_grconv(
    leaves: Tensor,
    weights: DilatedGRConvWeights,
    batch_sizes: Sequence[int],
    height: int,
    products: torch.dtype,
    level: type[Level] = PackedLevel,
) -> DilatedGRConvOutput:
    """Computes :func:`dilated_grconv` in PyTorch, one level at a time, over all nodes of a batch that are new on it.

    ``level`` is how one level is computed.
    """
    plan = _Plan(tuple(batch_sizes), count_levels(batch_sizes, height), level)
    both, bias = stacked(weights, plan.levels)
    nodes, sums, gates = _PackedDilatedGRConv.apply(leaves, both.to(products), bias, plan)
    return DilatedGRConvOutput(nodes, sums, nodes.index_select(0, last_rows(batch_sizes, nodes.device)), gates)


def last_rows(batch_sizes: Sequence[int], device: torch.device) -> Tensor:
    """The packed row of each sentence's last word, in packed order."""
    ending = torch.tensor([*batch_sizes, 0])
    lengths = (ending[:-1, None] > torch.arange(batch_sizes[0])).sum(dim=0)
    before = ending.cumsum(0) - ending
    return (before[lengths - 1] + torch.arange(batch_sizes[0])).to(device)


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

    def __init__(self, batch_sizes: Sequence[int], device: torch.device) -> None:
        super().__init__(batch_sizes, device)
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
            self._left_of[level] = rows_but_last(self.batch_sizes, 1 << level - 1, self._left.device)
        return self._left_of[level], 0

    def parents(self, level: int) -> tuple[Tensor, int]:
        """For each node below, the node whose left child it is, or a negative number; and nothing to subtract."""
        if level not in self._parents_of:
            left = self.left(level)
            nodes = torch.arange(left.numel(), device=left.device)
            self._parents_of[level] = left.new_full((self._before[-1],), -1).index_copy_(0, left, nodes)
        return self._parents_of[level], 0


@functools.lru_cache(maxsize=2)  # both directions have the same, and so has the backward pass
def dilation(batch_sizes: tuple[int, ...], device: torch.device) -> Dilation:
    """Where the nodes of a batch are."""
    return Dilation(batch_sizes, device)


class _Plan(NamedTuple):
    batch_sizes: tuple[int, ...]
    levels: int
    level: type[Level]


class _PackedDilatedGRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, both: Tensor, bias: Tensor, plan: _Plan) -> tuple[Tensor, Tensor, Tensor]:
        layout = dilation(plan.batch_sizes, leaves.device)
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
    batch_sizes: Sequence[int],
    height: int,
    products: torch.dtype,
) -> DilatedGRConvOutput:
    """Computes :func:`dilated_grconv` in C++, ``native/dilated_grconv.cpp``."""
    given = tuple(batch_sizes), height, products
    both, bias = stacked(weights, count_levels(batch_sizes, height))
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


DILATED_GRCONV = Operation(
    "dilated_grconv",
    reference=reference_dilated_grconv,
    packed=packed_dilated_grconv,
    native=native_dilated_grconv,
    fused=in_triton("triton_level", "fused_dilated_grconv"),
)
