"""The gated recursive convolution a level at a time: the nodes of the pyramids alone, whatever else is in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ..packing import rows_but_last
from .gates import gates_gradient, mean_gates, open_gates
from .output import GRConvOutput
from .weights import GRConvWeights


def grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    counts: Sequence[int],
    activation: str,
    *,
    height: int = 0,
    annotation_height: int = 0,
) -> GRConvOutput:
    """See :func:`user_dir.kernels.grconv.grconv`."""
    # Candidate and gates share one product a child: their weights stand above each other.
    left = torch.cat([weights.left, weights.gate_left])
    right = torch.cat([weights.right, weights.gate_right])
    bias = torch.cat([weights.bias, weights.gate_bias])
    top = min(height or len(counts), len(counts) - 1)
    plan = _Plan(tuple(counts), activation, top, min(annotation_height, top))
    return GRConvOutput(*_GRConv.apply(leaves, left, right, bias, plan))


class _Plan(NamedTuple):
    """What is to be computed: up to the level ``top``, of which the nodes up to the level ``returned`` are returned."""

    counts: tuple[int, ...]
    activation: str
    top: int
    returned: int


def _activate(pre: Tensor, activation: str) -> Tensor:
    return pre.tanh_() if activation == "tanh" else pre.relu_()


def _times_slope(grad: Tensor, value: Tensor, activation: str) -> Tensor:
    """``grad`` times the activation's derivative, which both activations give from their value."""
    if activation == "tanh":
        return torch.ops.aten.tanh_backward(grad, value)
    return torch.ops.aten.threshold_backward(grad, value, 0)


def _nodes_of_sentences(counts: Sequence[int], like: Tensor) -> Tensor:
    """How many rows each sentence has: (``counts[0]``, 1)."""
    running = torch.tensor(counts)[:, None] > torch.arange(counts[0])
    return running.sum(dim=0).to(like).unsqueeze(1)


def _means(nodes: Tensor, counts: Sequence[int]) -> Tensor:
    """The mean of each sentence's nodes of one level; their sums are taken in the order of the positions."""
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
    # The right children of a level need no list of rows. At each position of the level below, the sentences that have a
    # node one position further on are exactly those that have a parent here, so the right children are all rows after
    # the first position's. The left children are all rows but each sentence's last.

    @staticmethod
    def forward(
        ctx: FunctionCtx, leaves: Tensor, left: Tensor, right: Tensor, bias: Tensor, plan: _Plan
    ) -> tuple[Tensor, Tensor, Tensor]:
        counts, size = plan.counts, leaves.size(1)
        nodes, summaries = leaves, leaves.new_empty(counts[0], size)
        levels, candidates, gates = [leaves], [], []
        for level in range(1, plan.top + 1):
            summaries[counts[level] : counts[level - 1]] = nodes[counts[level] : counts[level - 1]]
            left_nodes = nodes.index_select(0, rows_but_last(counts[level - 1 :], 1, nodes.device))
            right_nodes = nodes[counts[level - 1] :]
            pre = torch.addmm(bias, left_nodes, left.t()).addmm_(right_nodes, right.t())
            w = open_gates(pre[:, size:])
            candidate = _activate(pre[:, :size], plan.activation)
            nodes = (w[:, 0] * candidate).addcmul_(w[:, 1], left_nodes).addcmul_(w[:, 2], right_nodes)
            levels.append(nodes)
            candidates.append(candidate)
            gates.append(w)
        summaries[: counts[plan.top]] = _means(nodes, counts[plan.top :])
        ctx.save_for_backward(left, right, *levels, *candidates, *gates)
        ctx.plan = plan
        all_gates = torch.cat([mean_gates(w) for w in gates]) if gates else leaves.new_zeros(0, 3)
        returned = torch.cat(levels[1 : plan.returned + 1]) if plan.returned else leaves.new_zeros(0, size)
        ctx.mark_non_differentiable(*([all_gates] if plan.returned else [all_gates, returned]))
        return summaries, all_gates, returned

    @staticmethod
    @once_differentiable
    def backward(
        ctx: FunctionCtx, grad_summaries: Tensor, _: Tensor, grad_returned: Tensor
    ) -> tuple[Tensor | None, ...]:
        counts, activation, top, returned = ctx.plan
        left, right, *saved = ctx.saved_tensors
        levels, candidates, gates = saved[: top + 1], saved[top + 1 : 2 * top + 1], saved[2 * top + 1 :]
        grad_left, grad_right = torch.zeros_like(left), torch.zeros_like(right)
        grad_bias = left.new_zeros(left.size(0))
        grad_levels = grad_returned.split([sum(counts[level:]) for level in range(1, returned + 1)])
        grad = _means_gradient(grad_summaries[: counts[top]], counts[top:])
        for level in range(top, 0, -1):
            if level <= returned:
                grad += grad_levels[level - 1]
            w, candidate = gates[level - 1], candidates[level - 1]
            rows = rows_but_last(counts[level - 1 :], 1, grad.device)
            left_nodes = levels[level - 1].index_select(0, rows)
            right_nodes = levels[level - 1][counts[level - 1] :]
            grad_pre = torch.cat(
                [
                    _times_slope(grad * w[:, 0], candidate, activation),
                    gates_gradient(grad, w, candidate, left_nodes, right_nodes),
                ],
                dim=1,
            )
            grad_left.addmm_(grad_pre.t(), left_nodes)
            grad_right.addmm_(grad_pre.t(), right_nodes)
            grad_bias += grad_pre.sum(dim=0)
            below = torch.zeros_like(levels[level - 1])
            below.index_copy_(0, rows, (grad * w[:, 1]).addmm_(grad_pre, left))
            below[counts[level - 1] :].addcmul_(grad, w[:, 2]).addmm_(grad_pre, right)
            below[counts[level] : counts[level - 1]] += grad_summaries[counts[level] : counts[level - 1]]
            grad = below
        return grad, grad_left, grad_right, grad_bias, None
