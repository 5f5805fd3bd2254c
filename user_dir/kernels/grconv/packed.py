"""The gated recursive convolution a level at a time: n(n−1)/2 nodes a sentence, whatever else is in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from .weights import GRConvWeights


def grconv(leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str) -> tuple[Tensor, Tensor]:
    """See :func:`user_dir.kernels.grconv.grconv`."""
    # Candidate and gates share one product a child: their weights stand above each other.
    left = torch.cat([weights.left, weights.gate_left])
    right = torch.cat([weights.right, weights.gate_right])
    bias = torch.cat([weights.bias, weights.gate_bias])
    return _GRConv.apply(leaves, left, right, bias, tuple(counts), activation)


def left_children(counts: Sequence[int], level: int, device: torch.device) -> Tensor:
    """The packed rows of level ``level − 1`` that are left children of the nodes of ``level``.

    The right children need no such list. At each position of the level below, the sentences that have a node one
    position further on are exactly those that have a node here, so the right children are all rows after the first
    position's. The left children are all rows but each sentence's last.

    Args:
        counts: sentences running at each leaf position.
        level: the parents' level, at least 1.
        device: where the result is wanted.

    Returns:
        (number of nodes of ``level``,) row numbers, rising.
    """
    parents = torch.tensor(counts[level:])
    below = torch.tensor([0, *accumulate(counts[level - 1 : -1])])[: parents.numel()]
    shift = below - (parents.cumsum(0) - parents)
    rows = torch.arange(int(parents.sum())) + shift.repeat_interleave(parents)
    return rows.to(device)


def _activate(pre: Tensor, activation: str) -> Tensor:
    return pre.tanh_() if activation == "tanh" else pre.relu_()


def _times_slope(grad: Tensor, value: Tensor, activation: str) -> Tensor:
    """``grad`` times the activation's derivative, which both activations give from their value."""
    if activation == "tanh":
        return torch.ops.aten.tanh_backward(grad, value)
    return torch.ops.aten.threshold_backward(grad, value, 0)


class _GRConv(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx, leaves: Tensor, left: Tensor, right: Tensor, bias: Tensor, counts: tuple, activation: str
    ) -> tuple[Tensor, Tensor]:
        size = leaves.size(1)
        nodes, roots = leaves, leaves.new_empty(counts[0], size)
        levels, candidates, gates = [leaves], [], []
        for level in range(1, len(counts)):
            roots[counts[level] : counts[level - 1]] = nodes[counts[level] : counts[level - 1]]
            left_nodes = nodes.index_select(0, left_children(counts, level, nodes.device))
            right_nodes = nodes[counts[level - 1] :]
            pre = torch.addmm(bias, left_nodes, left.t()).addmm_(right_nodes, right.t())
            w = torch.softmax(pre[:, size:], dim=1)
            candidate = _activate(pre[:, :size], activation)
            nodes = (w[:, 0:1] * candidate).addcmul_(w[:, 1:2], left_nodes).addcmul_(w[:, 2:3], right_nodes)
            levels.append(nodes)
            candidates.append(candidate)
            gates.append(w)
        roots[: counts[-1]] = nodes[: counts[-1]]
        ctx.save_for_backward(left, right, *levels, *candidates, *gates)
        ctx.counts, ctx.activation = counts, activation
        all_gates = torch.cat(gates) if gates else leaves.new_zeros(0, 3)
        ctx.mark_non_differentiable(all_gates)
        return roots, all_gates

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad_roots: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        counts, size = ctx.counts, grad_roots.size(1)
        left, right, *saved = ctx.saved_tensors
        height = len(counts) - 1
        levels, candidates, gates = saved[: height + 1], saved[height + 1 : 2 * height + 1], saved[2 * height + 1 :]
        grad_left, grad_right = torch.zeros_like(left), torch.zeros_like(right)
        grad_bias = left.new_zeros(size + 3)
        grad = grad_roots[: counts[-1]].clone()
        for level in range(height, 0, -1):
            w, candidate = gates[level - 1], candidates[level - 1]
            rows = left_children(counts, level, grad.device)
            left_nodes = levels[level - 1].index_select(0, rows)
            right_nodes = levels[level - 1][counts[level - 1] :]
            grad_pre = torch.cat(
                [
                    _times_slope(grad * w[:, 0:1], candidate, ctx.activation),
                    _gate_gradient(grad, w, candidate, left_nodes, right_nodes),
                ],
                dim=1,
            )
            grad_left.addmm_(grad_pre.t(), left_nodes)
            grad_right.addmm_(grad_pre.t(), right_nodes)
            grad_bias += grad_pre.sum(dim=0)
            below = torch.zeros_like(levels[level - 1])
            below.index_copy_(0, rows, (grad * w[:, 1:2]).addmm_(grad_pre, left))
            below[counts[level - 1] :].addcmul_(grad, w[:, 2:3]).addmm_(grad_pre, right)
            below[counts[level] : counts[level - 1]] += grad_roots[counts[level] : counts[level - 1]]
            grad = below
        return grad, grad_left, grad_right, grad_bias, None, None


def _gate_gradient(grad: Tensor, w: Tensor, candidate: Tensor, left_nodes: Tensor, right_nodes: Tensor) -> Tensor:
    """The gradient with respect to the gates' logits: (n, 3)."""
    grad_w = torch.stack([(grad * value).sum(dim=1) for value in (candidate, left_nodes, right_nodes)], dim=1)
    return w * (grad_w - (w * grad_w).sum(dim=1, keepdim=True))
