"""One level of the pyramid: its nodes from the level below, and its gradients from the level above.

A node's gates are three numbers that sum to one, or three vectors with one such number per unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from .matrix import add_product, add_product_, pieces
from .packing import rows_but_last


class LevelWeights(NamedTuple):
    """The weights of all levels: candidate and gates share one product per child.

    Attributes:
        both: (2, H + 3, H) W^l above G^l, then W^r above G^r.
        bias: (H + 3,) b above b_G.
    """

    both: Tensor
    bias: Tensor

    @property
    def left(self) -> Tensor:
        """(H + 3, H), for the left child."""
        return self.both[0]

    @property
    def right(self) -> Tensor:
        """(H + 3, H), for the right child."""
        return self.both[1]


class Children(NamedTuple):
    """The children of a level's n nodes.

    Attributes:
        left: (n, H).
        right: (n, H).
    """

    left: Tensor
    right: Tensor


class PyramidLayout:
    """Where the nodes of a packed batch are: each level is packed like the leaves of sentences so much shorter.

    Args:
        batch_sizes: as in :class:`~recurrent_mt.kernels.packing.Packing`.
        device: of the nodes.
        activation: of their candidates.
    """

    def __init__(self, batch_sizes: Sequence[int], device: torch.device, activation: str = "tanh") -> None:
        self.batch_sizes = batch_sizes
        self.is_tanh = activation == "tanh"
        self._before = [0, *accumulate(batch_sizes)]  # leaves before each position
        self._left = rows_but_last(batch_sizes, 1, device)
        self._parents: Tensor | None = None

    def size(self, level: int) -> int:
        """The number of nodes of the level."""
        return self._before[-1] - self._before[level]

    def size_below(self, level: int) -> int:
        """How many nodes a level's nodes are made of."""
        return self._before[-1] - self._before[level - 1]

    def first(self, level: int) -> int:
        """How many of the nodes below come before the first right child: node n has row n + ``first`` as its own."""
        return self.batch_sizes[level - 1]

    def left(self, level: int) -> Tensor:
        """The rows of the level below that are left children: all except each sentence's last."""
        rows, first = self.left_leaves(level)
        return rows - first if first else rows

    def left_leaves(self, level: int) -> tuple[Tensor, int]:
        """The left children as rows of leaves, and what to subtract to make them rows of the level below."""
        return self._left[self._before[level] - self.batch_sizes[0] :], self._before[level - 1]

    def parents(self, level: int) -> tuple[Tensor, int]:
        """For each node below a level, the node whose left child it is, negative for each sentence's last.

        The right children need no such list: with c nodes at the first position below, node n is the right child of
        node n − c.

        Returns:
            Rows (m,), and what to subtract from those that are not negative.
        """
        if self._parents is None:
            parents = self._left.new_full((self._before[-1],), -1)
            nodes = torch.arange(self._left.numel(), device=parents.device)
            self._parents = parents.index_copy_(0, self._left, nodes)
        return self._parents[self._before[level - 1] :], self._before[level] - self.batch_sizes[0]

    def children(self, level: int, below: Tensor) -> Children:
        """The children of a level's nodes, from the nodes ``below`` it.

        The right children need no list of rows. At each position of the level below, the sentences that have a node at
        the next position are exactly those that have a parent here, so the right children are all rows after the first
        position's.
        """
        return Children(below.index_select(0, self.left(level)), below[self.first(level) :])


class Level(Protocol):
    """One level over the nodes ``below`` it: ``Level(pyramid, level, below)``, with the level counted from 1."""

    def __init__(self, pyramid: PyramidLayout, level: int, below: Tensor) -> None: ...

    @staticmethod
    def prepare(weights: LevelWeights) -> LevelWeights:
        """The weights as the other methods take them; called once before all levels, in either direction."""
        return weights

    def grow(self, weights: LevelWeights) -> tuple[Tensor, Tensor, Tensor]:
        """The candidates (n, H), the gates (n, 3), and the nodes (n, H)."""

    def merge(self, candidate: Tensor, gates: Tensor) -> Tensor:
        """The nodes (n, H) once more, without a product."""

    def backward(
        self, grad: Tensor, candidate: Tensor, gates: Tensor, *, weights: LevelWeights, sums: LevelWeights
    ) -> Tensor:
        """The part of the gradient of all nodes below that comes through this level's nodes.

        Args:
            grad: (n, H) of the level's nodes.
            candidate: as returned by :meth:`grow`.
            gates: the same.
            weights: the weights of all levels.
            sums: the gradients of the weights, to which this level's are added.
        """

    @staticmethod
    def zero_sums(weights: LevelWeights) -> LevelWeights:
        """What :meth:`backward` adds the gradients of the weights to, before the first level."""
        return LevelWeights(*(torch.zeros_like(weight, dtype=weights.bias.dtype) for weight in weights))


class PackedLevel(Level):
    """A level whose left children are copied next to their siblings."""

    def __init__(self, pyramid: PyramidLayout, level: int, below: Tensor) -> None:
        self.pyramid, self.level = pyramid, level
        self.children = pyramid.children(level, below)

    def grow(self, weights: LevelWeights) -> tuple[Tensor, Tensor, Tensor]:
        candidate, gates = candidate_and_gates(self.children, weights, is_tanh=self.pyramid.is_tanh)
        return candidate, gates, self.merge(candidate, gates)

    def merge(self, candidate: Tensor, gates: Tensor) -> Tensor:
        return merge(self.children, candidate, gates)

    def backward(
        self, grad: Tensor, candidate: Tensor, gates: Tensor, *, weights: LevelWeights, sums: LevelWeights
    ) -> Tensor:
        grad_pre = gradient_before_activation(grad, self.children, candidate, gates, is_tanh=self.pyramid.is_tanh)
        sums.bias.add_(grad_pre.sum(dim=0))
        grad_pre, dtype = grad_pre.to(weights.both.dtype), weights.both.dtype
        add_product_(sums.left, grad_pre.t(), self.children.left.to(dtype))
        add_product_(sums.right, grad_pre.t(), self.children.right.to(dtype))
        return gradient_below(grad, grad_pre, gates, weights, self.pyramid, self.level)


def candidate_and_gates(children: Children, weights: LevelWeights, *, is_tanh: bool) -> tuple[Tensor, Tensor]:
    """The candidates (n, H) and the gates (n, 3) of the nodes."""
    size = children.left.size(1)
    pre = add_product(weights.bias, children.left, weights.left.t())
    add_product_(pre, children.right, weights.right.t())
    candidate, logits = pre[:, :size], pre[:, size:]
    return candidate.tanh_() if is_tanh else candidate.relu_(), torch.softmax(logits, dim=1)


def merge(children: Children, candidate: Tensor, gates: Tensor) -> Tensor:
    """Returns the nodes (n, H) of the level."""
    nodes = torch.empty_like(children.left)
    for piece in pieces(nodes.size(0), nodes.size(1), nodes):
        w, left, right = gates[piece], children.left[piece], children.right[piece]
        torch.mul(w[:, 0:1], candidate[piece], out=nodes[piece]).addcmul_(w[:, 1:2], left).addcmul_(w[:, 2:3], right)
    return nodes


def gradient_before_activation(
    grad: Tensor, children: Children, candidate: Tensor, gates: Tensor, *, is_tanh: bool
) -> Tensor:
    """The gradient (n, H + 3) of the pre-activations of candidate and gates, from that of the nodes (n, H)."""
    size = grad.size(1)
    grad_pre = grad.new_empty(grad.size(0), size + 3)
    for piece in pieces(grad.size(0), size, grad):
        w, values = gates[piece], (candidate[piece], children.left[piece], children.right[piece])
        grad_candidate = torch.mul(grad[piece], w[:, 0:1], out=grad_pre[piece, :size])
        if is_tanh:
            torch.ops.aten.tanh_backward(grad_candidate, values[0], grad_input=grad_candidate)
        else:
            torch.ops.aten.threshold_backward(grad_candidate, values[0], 0, grad_input=grad_candidate)
        grad_pre[piece, size:] = gates_gradient(grad[piece], w, *values)
    return grad_pre


def gradient_below(
    grad: Tensor, grad_pre: Tensor, gates: Tensor, weights: LevelWeights, pyramid: PyramidLayout, level: int
) -> Tensor:
    """The part of the gradient of all nodes on the level below that comes through a level's nodes.

    Args:
        grad: (n, H) of the level's nodes.
        grad_pre: (n, H + 3) as returned by :func:`gradient_before_activation`.
        gates: the level's gates.
        weights: the weights of all levels.
        pyramid: where the nodes are.
        level: from 1.
    """
    first = pyramid.first(level)
    below = grad.new_empty(pyramid.size_below(level), grad.size(1))
    below[:first] = 0
    add_product_(torch.mul(grad, gates[:, 2:3], out=below[first:]), grad_pre, weights.right)
    return below.index_add_(0, pyramid.left(level), add_product_(grad * gates[:, 1:2], grad_pre, weights.left))


def gates_gradient(grad: Tensor, gates: Tensor, candidate: Tensor, left_nodes: Tensor, right_nodes: Tensor) -> Tensor:
    """The gradient with respect to the logits (n, 3).

    Args:
        grad: (n, H) with respect to the nodes.
        gates: (n, 3).
        candidate: (n, H) what the first gate lets in.
        left_nodes: (n, H) what the second lets in.
        right_nodes: (n, H) what the third lets in.
    """
    grad_gates = torch.stack([(grad * value).sum(dim=1) for value in (candidate, left_nodes, right_nodes)], dim=1)
    return gates * (grad_gates - (gates * grad_gates).sum(dim=1, keepdim=True))
