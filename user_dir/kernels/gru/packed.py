"""The gated recurrent unit with a backward pass of its own: the weights' gradients are one product each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ..packing import previous_rows


def gru(
    inputs: Tensor, initial: Tensor, gate_weight: Tensor, candidate_weight: Tensor, counts: Sequence[int]
) -> Tensor:
    """See :func:`user_dir.kernels.gru.gru`."""
    return _GRU.apply(inputs, initial, gate_weight, candidate_weight, tuple(counts))


def step(inputs: Tensor, previous: Tensor, gate_weight: Tensor, candidate_weight: Tensor) -> tuple[Tensor, ...]:
    """One step on ``n`` rows.

    Args:
        inputs: (n, 3H) what enters [reset, update, candidate] besides the previous state.
        previous: (n, H) the previous state.
        gate_weight: (2H, H).
        candidate_weight: (H, H).

    Returns:
        The state (n, H), the gates [r, z] (n, 2H), the candidate (n, H) and r ⊙ h (n, H).
    """
    size = previous.size(1)
    gates = torch.addmm(inputs[:, : 2 * size], previous, gate_weight.t()).sigmoid_()
    reset, update = gates[:, :size], gates[:, size:]
    reset_previous = reset * previous
    candidate = torch.addmm(inputs[:, 2 * size :], reset_previous, candidate_weight.t()).tanh_()
    state = torch.lerp(candidate, previous, update)
    return state, gates, candidate, reset_previous


def step_backward(
    grad: Tensor, previous: Tensor, gates: Tensor, candidate: Tensor, gate_weight: Tensor, candidate_weight: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of one step.

    Args:
        grad: (n, H) with respect to the step's state.
        previous: (n, H) the state before the step.
        gates: (n, 2H), as :func:`step` returned them.
        candidate: (n, H), likewise.
        gate_weight: (2H, H).
        candidate_weight: (H, H).

    Returns:
        The gradients with respect to the inputs (n, 3H) and to the previous state (n, H).
    """
    size = previous.size(1)
    reset, update = gates[:, :size], gates[:, size:]
    grad_inputs = grad.new_empty(grad.size(0), 3 * size)
    grad_candidate = grad_inputs[:, 2 * size :]
    torch.mul(grad * (1 - update), 1 - candidate * candidate, out=grad_candidate)
    grad_reset_previous = grad_candidate @ candidate_weight
    torch.mul(grad_reset_previous * previous, reset * (1 - reset), out=grad_inputs[:, :size])
    torch.mul(grad * (previous - candidate), update * (1 - update), out=grad_inputs[:, size : 2 * size])
    grad_previous = torch.addcmul(grad * update, grad_reset_previous, reset)
    grad_previous.addmm_(grad_inputs[:, : 2 * size], gate_weight)
    return grad_inputs, grad_previous


class _GRU(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx, inputs: Tensor, initial: Tensor, gate_weight: Tensor, candidate_weight: Tensor, counts: tuple
    ) -> Tensor:
        state = initial
        saved = []
        for x in inputs.split(counts):
            saved.append(step(x, state[: x.size(0)], gate_weight, candidate_weight))
            state = saved[-1][0]
        states, gates, candidates, reset_previous = (torch.cat(rows) for rows in zip(*saved))
        ctx.save_for_backward(initial, gate_weight, candidate_weight, states, gates, candidates, reset_previous)
        ctx.counts = counts
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        initial, gate_weight, candidate_weight, states, gates, candidates, reset_previous = ctx.saved_tensors
        size = initial.size(1)
        previous = previous_rows(states, initial, ctx.counts)
        grad_inputs = grad_states.new_empty(states.size(0), 3 * size)
        carried = grad_states.new_zeros(initial.shape)
        stop = states.size(0)
        for count in reversed(ctx.counts):
            rows = slice(stop - count, stop)
            stop -= count
            grad_inputs[rows], carried[:count] = step_backward(
                grad_states[rows] + carried[:count],
                previous[rows],
                gates[rows],
                candidates[rows],
                gate_weight,
                candidate_weight,
            )
        grad_gate_weight = grad_inputs[:, : 2 * size].t() @ previous
        grad_candidate_weight = grad_inputs[:, 2 * size :].t() @ reset_previous
        return grad_inputs, carried, grad_gate_weight, grad_candidate_weight, None
