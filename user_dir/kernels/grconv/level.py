"""One level of the pyramid: its nodes from the level below, and its gradients from the level above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..packing import rows_but_last
from .gates import gates_gradient, open_gates


class LevelWeights(NamedTuple):
    """The weights of all levels: candidate and gates share one product a child.

    Attributes:
        left: (H + G, H) W^l above G^l.
        right: (H + G, H) W^r above G^r.
        bias: (H + G,) b above b_G.
    """

    left: Tensor
    right: Tensor
    bias: Tensor


class Children(NamedTuple):
    """The children of a level's n nodes.

    Attributes:
        left: (n, H).
        right: (n, H).
    """

    left: Tensor
    right: Tensor


def left_rows(counts: Sequence[int], level: int, device: torch.device) -> Tensor:
    """The rows of the level below that are left children: all but each sentence's last."""
    return rows_but_last(counts[level - 1 :], 1, device)


def children_of(level: int, below: Tensor, counts: Sequence[int]) -> Children:
    """The children of the nodes of a level, out of the nodes ``below`` it.

    The right children need no list of rows. At each position of the level below, the sentences that have a node one
    position further on are exactly those that have a parent here, so the right children are all rows after the first
    position's.
    """
    return Children(below.index_select(0, left_rows(counts, level, below.device)), below[counts[level - 1] :])


def candidate_and_gates(children: Children, weights: LevelWeights, activation: str) -> tuple[Tensor, Tensor]:
    """The candidates (n, H) and the gates of the nodes; see :func:`~user_dir.kernels.grconv.gates.open_gates`."""
    size = children.left.size(1)
    pre = torch.addmm(weights.bias, children.left, weights.left.t()).addmm_(children.right, weights.right.t())
    gates = open_gates(pre[:, size:])
    candidate = pre[:, :size]
    if gates.size(2) > 1:
        # Kept as a view, it would keep the logits of a gate for each unit with it.
        candidate = candidate.contiguous()
    return candidate.tanh_() if activation == "tanh" else candidate.relu_(), gates


def merge(children: Children, candidate: Tensor, gates: Tensor) -> Tensor:
    """The nodes (n, H)."""
    nodes = gates[:, 0] * candidate
    return nodes.addcmul_(gates[:, 1], children.left).addcmul_(gates[:, 2], children.right)


def gradient_before_activation(
    grad: Tensor, children: Children, candidate: Tensor, gates: Tensor, activation: str
) -> Tensor:
    """The gradient (n, H + G) with respect to what candidate and gates are made of, from that of the nodes (n, H)."""
    grad_candidate = grad * gates[:, 0]
    if activation == "tanh":
        grad_candidate = torch.ops.aten.tanh_backward(grad_candidate, candidate)
    else:
        grad_candidate = torch.ops.aten.threshold_backward(grad_candidate, candidate, 0)
    return torch.cat([grad_candidate, gates_gradient(grad, gates, candidate, *children)], dim=1)


def gradient_below(
    grad: Tensor, grad_pre: Tensor, gates: Tensor, weights: LevelWeights, counts: Sequence[int], level: int
) -> Tensor:
    """The gradient of all nodes on the level below, as far as it comes through a level's nodes.

    Args:
        grad: (n, H) of the level's nodes.
        grad_pre: (n, H + G) as :func:`gradient_before_activation` gave it.
        gates: of the level.
        weights: of all levels.
        counts: as in :class:`~user_dir.kernels.packing.Packing`.
        level: from 1.
    """
    below = grad.new_zeros(counts[level - 1] + grad.size(0), grad.size(1))
    below.index_copy_(0, left_rows(counts, level, grad.device), (grad * gates[:, 1]).addmm_(grad_pre, weights.left))
    below[counts[level - 1] :].addcmul_(grad, gates[:, 2]).addmm_(grad_pre, weights.right)
    return below
