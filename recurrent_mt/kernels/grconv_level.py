"""One level of the pyramid: its nodes from the level below, and its gradients from the level above."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from .matrix import add_product, add_product_, pieces
from .packing import rows_but_last


class LevelWeights(NamedTuple):
    """The weights of all levels: candidate and gates share one product per child."""

    both: Tensor  # (2, H + 3, H) W^l above G^l, then W^r above G^r
    bias: Tensor  # (H + 3,) b above b_G

    @property
    def left(self) -> Tensor:
        """(H + 3, H), for the left child."""
        return self.both[0]

    @property
    def right(self) -> Tensor:
        """(H + 3, H), for the right child."""
        return self.both[1]


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
    """A level whose left children are copied next to their siblings.

    The right children need no list of rows. At each position of the level below, the sentences that have a node at the
    next position are exactly those that have a parent here, so the right children are all rows after the first
    position's.
    """

    def __init__(self, pyramid: PyramidLayout, level: int, below: Tensor) -> None:
        self.pyramid, self.level = pyramid, level
        self.left, self.right = below.index_select(0, pyramid.left(level)), below[pyramid.first(level) :]

    def grow(self, weights: LevelWeights) -> tuple[Tensor, Tensor, Tensor]:
        size = self.left.size(1)
        pre = add_product(weights.bias, self.left, weights.left.t())
        add_product_(pre, self.right, weights.right.t())
        candidate, logits = pre[:, :size], pre[:, size:]
        candidate = candidate.tanh_() if self.pyramid.is_tanh else candidate.relu_()
        gates = torch.softmax(logits, dim=1)
        return candidate, gates, self.merge(candidate, gates)

    def merge(self, candidate: Tensor, gates: Tensor) -> Tensor:
        nodes = torch.empty_like(self.left)
        for piece in pieces(nodes.size(0), nodes.size(1), nodes):
            w, left, right = gates[piece], self.left[piece], self.right[piece]
            node = torch.mul(w[:, 0:1], candidate[piece], out=nodes[piece])
            node.addcmul_(w[:, 1:2], left).addcmul_(w[:, 2:3], right)
        return nodes

    def backward(
        self, grad: Tensor, candidate: Tensor, gates: Tensor, *, weights: LevelWeights, sums: LevelWeights
    ) -> Tensor:
        grad_pre = self._gradient_before_activation(grad, candidate, gates)
        sums.bias.add_(grad_pre.sum(dim=0))
        grad_pre, dtype = grad_pre.to(weights.both.dtype), weights.both.dtype
        add_product_(sums.left, grad_pre.t(), self.left.to(dtype))
        add_product_(sums.right, grad_pre.t(), self.right.to(dtype))
        first = self.pyramid.first(self.level)
        below = grad.new_empty(self.pyramid.size_below(self.level), grad.size(1))
        below[:first] = 0
        add_product_(torch.mul(grad, gates[:, 2:3], out=below[first:]), grad_pre, weights.right)
        through_left = add_product_(grad * gates[:, 1:2], grad_pre, weights.left)
        return below.index_add_(0, self.pyramid.left(self.level), through_left)

    def _gradient_before_activation(self, grad: Tensor, candidate: Tensor, gates: Tensor) -> Tensor:
        """The gradient (n, H + 3) of the pre-activations of candidate and gates, from that of the nodes (n, H)."""
        size = grad.size(1)
        grad_pre = grad.new_empty(grad.size(0), size + 3)
        for piece in pieces(grad.size(0), size, grad):
            g, w, values = grad[piece], gates[piece], (candidate[piece], self.left[piece], self.right[piece])
            grad_candidate = torch.mul(g, w[:, 0:1], out=grad_pre[piece, :size])
            if self.pyramid.is_tanh:
                torch.ops.aten.tanh_backward(grad_candidate, values[0], grad_input=grad_candidate)
            else:
                torch.ops.aten.threshold_backward(grad_candidate, values[0], 0, grad_input=grad_candidate)
            grad_gates = torch.stack([(g * value).sum(dim=1) for value in values], dim=1)
            grad_pre[piece, size:] = w * (grad_gates - (w * grad_gates).sum(dim=1, keepdim=True))
        return grad_pre
