"""The gated recursive convolution of Cho et al. (2014b) over a packed batch.

It is computed one level at a time. For the backward pass, we keep the candidate and gates of every node, and the nodes
of as many levels as fit into a few megabytes, or of every √L-th of L levels if that is more. The nodes in between are
merged again on the way back, a few levels at a time, which takes no matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dispatch import Operation, in_triton
from .grconv_level import Level, LevelWeights, PackedLevel, PyramidLayout

PHI = {"tanh": torch.tanh, "relu": torch.relu}
ACTIVATIONS = tuple(PHI)


class GRConvWeights(NamedTuple):
    """The weights that every node of every level shares; gates are ordered [new, left, right]."""

    left: Tensor  # (H, H) W^l, from the left child to the candidate
    right: Tensor  # (H, H) W^r, from the right child to the candidate
    bias: Tensor  # (H,) b
    gate_left: Tensor  # (3, H) G^l, from the left child to the gates
    gate_right: Tensor  # (3, H) G^r, from the right child to the gates
    gate_bias: Tensor  # (3,) b_G

    def to(self, dtype: torch.dtype) -> GRConvWeights:
        """The matrices in another dtype; the biases are unchanged."""
        names = ("left", "right", "gate_left", "gate_right")
        return self._replace(**{name: getattr(self, name).to(dtype) for name in names})

    def check(self, size: int) -> None:
        """Rejects weights that do not fit nodes of that width.

        Raises:
            ValueError: naming the weight.
        """
        shapes = ((size, size), (size, size), (size,), (3, size), (3, size), (3,))
        for name, weight, shape in zip(self._fields, self, shapes):
            if weight.shape != shape:
                raise ValueError(
                    f"for nodes of width {size}, the weight {name!r} must be {shape}, not {tuple(weight.shape)}"
                )


class Levels(NamedTuple):
    """Which levels of the pyramid are computed and returned: the arguments of the same names."""

    height: int = 0
    annotation_height: int = 0


class GRConvOutput(NamedTuple):
    """The outputs for a packed batch.

    Nodes are stored level by level, and within a level packed like the leaves of sentences that are that much shorter.
    """

    #: (``batch_sizes[0]``, H) in packed order: the roots, or, if the height is bounded, the mean of a sentence's nodes
    #: on its highest level
    summaries: Tensor
    gates: Tensor  # (nodes, 3) [new, left, right] of every node. They carry no gradient.
    nodes: Tensor  # (M, H) the nodes of levels 1 to ``annotation_height``


def grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    *,
    batch_sizes: Sequence[int],
    activation: str = "tanh",
    height: int = 0,
    annotation_height: int = 0,
) -> GRConvOutput:
    """Merges neighbors, level by level, until one node per sentence is left or the height is reached.

    With l and r the children of a node on the level below::

        h̃ = φ(W^l l + W^r r + b)    [w_c w_l w_r] = softmax(G^l l + G^r r + b_G)    h = w_c h̃ + w_l l + w_r r

    Cho et al. (2014b), "On the Properties of Neural Machine Translation: Encoder–Decoder Approaches", section 2.2.
    The biases come from the released code. A sentence of n leaves has its root on level n − 1 and costs n(n − 1)/2
    nodes; a bounded height t costs fewer than t nodes per leaf.

    Args:
        leaves: (N, H) packed rows.
        weights: shared by all levels.
        batch_sizes: as in :class:`~recurrent_mt.kernels.packing.Packing`.
        activation: φ, one of :data:`ACTIVATIONS`.
        height: the last level that is computed; 0: up to the root.
        annotation_height: the last level whose nodes are returned; 0: none are.

    Raises:
        ValueError: if shapes do not fit together, or if an implementation is asked for that cannot run here.
    """
    size = leaves.size(1)
    weights.check(size)
    if leaves.size(0) != sum(batch_sizes):
        raise ValueError(f"{sum(batch_sizes)} leaves are expected, but there are {leaves.size(0)}")
    if not batch_sizes:
        nothing = leaves.new_zeros(0, size)
        return GRConvOutput(nothing, leaves.new_zeros(0, 3), nothing)
    call = GRCONV.call(weights.left)
    with call.outside_autocast:
        levels = Levels(height, annotation_height)
        return call.run(leaves.to(call.states), weights.to(call.products), batch_sizes, activation, levels)


def reference_grconv(
    leaves: Tensor, weights: GRConvWeights, batch_sizes: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`grconv` as a loop over sentences and levels, in the letters of Cho et al. (2014b)."""
    phi, height = PHI[activation], levels.height
    positions = leaves.split(list(batch_sizes))
    summaries, gates, nodes = [], {}, {}
    for sentence in range(batch_sizes[0]):
        h = torch.stack([rows[sentence] for rows in positions if rows.size(0) > sentence])  # (n, H)
        root = h.size(0) - 1
        for level in range(1, (min(height, root) if height else root) + 1):
            h, w = reference_merge(h[:-1], h[1:], weights, phi)
            for position in range(h.size(0)):
                gates[level, position, sentence] = w[position].detach()
                if level <= levels.annotation_height:
                    nodes[level, position, sentence] = h[position]
        summaries.append(h.mean(dim=0))  # one node, the root, unless the height is bounded
    return GRConvOutput(
        torch.stack(summaries),
        in_packed_order(gates, leaves.new_zeros(0, 3)),
        in_packed_order(nodes, leaves.new_zeros(0, leaves.size(1))),
    )


def reference_merge(
    left: Tensor, right: Tensor, weights: GRConvWeights, phi: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """The nodes (n, H) of children (n, H), and their gates (n, 3)."""
    W_l, W_r, b, G_l, G_r, b_G = weights
    candidate = phi(left @ W_l.t() + right @ W_r.t() + b)
    w = torch.softmax(left @ G_l.t() + right @ G_r.t() + b_G, dim=1)
    return w[:, 0:1] * candidate + w[:, 1:2] * left + w[:, 2:3] * right, w


def in_packed_order(rows: Mapping[Any, Tensor], empty: Tensor) -> Tensor:
    """One under the other, by their level, position and sentence."""
    return torch.stack([rows[node] for node in sorted(rows)]) if rows else empty


def packed_grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    batch_sizes: Sequence[int],
    activation: str,
    levels: Levels,
    level: type[Level] = PackedLevel,
) -> GRConvOutput:
    """Computes :func:`grconv` in PyTorch, one level at a time: only the nodes of the pyramids.

    ``level`` is how one level is computed.
    """
    top = min(levels.height or len(batch_sizes), len(batch_sizes) - 1)
    both = torch.cat([weights.left, weights.gate_left, weights.right, weights.gate_right])
    bias = torch.cat([weights.bias, weights.gate_bias])
    plan = _Plan(
        tuple(batch_sizes),
        activation,
        top,
        returned=min(levels.annotation_height, top),
        spacing=_spacing(batch_sizes, top, leaves),
        # Asked here, as within a Function gradients are always off.
        differentiable=torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (leaves, both, bias)),
        level=level,
    )
    return GRConvOutput(*_GRConv.apply(leaves, both.unflatten(0, (2, -1)), bias, plan))


KEPT_BYTES = 1 << 24
"""How much may be kept of nodes that could be merged again: merging all of them again takes a twelfth of the time."""


def _spacing(batch_sizes: Sequence[int], top: int, leaves: Tensor) -> int:
    """The smallest spacing of levels whose nodes are kept that respects :data:`KEPT_BYTES`, at most √L."""
    most = isqrt(max(1, top))
    nodes = [0, *(sum(batch_sizes[level:]) for level in range(1, top))]
    bytes_a_node = leaves.size(1) * leaves.element_size()
    return next((step for step in range(1, most) if sum(nodes[::step]) * bytes_a_node <= KEPT_BYTES), most)


class _Plan(NamedTuple):
    """What to compute and keep."""

    batch_sizes: tuple[int, ...]  # as in :class:`~recurrent_mt.kernels.packing.Packing`
    activation: str  # the candidates' activation
    top: int  # the last level
    returned: int  # the last level whose nodes are returned
    spacing: int  # the nodes of every so many levels are kept, the leaves among them
    differentiable: bool  # whether there may be a backward pass
    level: type[Level]  # how one level is computed

    def kept_levels(self) -> range:
        """The levels whose nodes are kept; those of the last one are not needed."""
        return range(0, max(1, self.top) if self.differentiable else 0, self.spacing)


def _nodes_of_sentences(batch_sizes: Sequence[int], like: Tensor) -> Tensor:
    """How many rows each sentence has: (``batch_sizes[0]``, 1)."""
    running = torch.tensor(batch_sizes)[:, None] > torch.arange(batch_sizes[0])
    return running.sum(dim=0).to(like).unsqueeze(1)


def _means(nodes: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    """The mean of each sentence's nodes on one level; they are summed in the order of their positions."""
    if len(batch_sizes) == 1:
        return nodes
    means = nodes[: batch_sizes[0]].clone()
    for rows in nodes[batch_sizes[0] :].split(list(batch_sizes[1:])):
        means[: rows.size(0)] += rows
    return means.div_(_nodes_of_sentences(batch_sizes, nodes))


def _means_gradient(grad: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    share = grad / _nodes_of_sentences(batch_sizes, grad)
    return torch.cat([share[:count] for count in batch_sizes])


class _GRConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, leaves: Tensor, both: Tensor, bias: Tensor, plan: _Plan) -> tuple[Tensor, Tensor, Tensor]:
        batch_sizes, nodes = plan.batch_sizes, leaves
        pyramid = PyramidLayout(batch_sizes, leaves.device, plan.activation)
        weights = plan.level.prepare(LevelWeights(both, bias))
        summaries = leaves.new_empty(batch_sizes[0], leaves.size(1))
        kept, candidates, gates, returned = [leaves], [], [], []
        for level in range(1, plan.top + 1):
            summaries[batch_sizes[level] : batch_sizes[level - 1]] = nodes[batch_sizes[level] : batch_sizes[level - 1]]
            candidate, w, nodes = plan.level(pyramid, level, nodes).grow(weights)
            gates.append(w)
            if plan.differentiable:
                candidates.append(candidate)
            if level in plan.kept_levels():
                kept.append(nodes)
            if level <= plan.returned:
                returned.append(nodes)
        summaries[: batch_sizes[plan.top]] = _means(nodes, batch_sizes[plan.top :])
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
        batch_sizes, top = plan.batch_sizes, plan.top
        sums = plan.level.zero_sums(weights)
        grad_levels = grad_returned.split([pyramid.size(level) for level in range(1, plan.returned + 1)])
        grad = _means_gradient(grad_summaries[: batch_sizes[top]], batch_sizes[top:])
        for number, level, candidate, w in _levels_downward(plan, pyramid, weights, saved):
            if number <= plan.returned:
                grad += grad_levels[number - 1]
            grad = level.backward(grad, candidate, w, weights=weights, sums=sums)
            grad[batch_sizes[number] : batch_sizes[number - 1]] += grad_summaries[
                batch_sizes[number] : batch_sizes[number - 1]
            ]
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
    leaves: Tensor, weights: GRConvWeights, batch_sizes: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`grconv` with each level in C++, ``native/grconv.cpp``."""
    return packed_grconv(leaves.contiguous(), weights, batch_sizes, activation, levels, NativeLevel)


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


GRCONV = Operation(
    "grconv",
    reference=reference_grconv,
    packed=packed_grconv,
    native=native_grconv,
    fused=in_triton("triton_level", "fused_grconv"),
)
