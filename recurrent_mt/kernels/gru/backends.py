"""The gated recurrent unit: ``packed`` with its own backward pass, ``native`` in C++, ``fused`` in Triton.

The weights' gradients are one product each. ``native`` is ``../native/gru.cpp``; ``fused`` is ``packed`` with
everything between its matrix products in Triton, and all steps in a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native, check_triton
from ..graphs import Run, directly, is_worthwhile, rectangle, replayed
from ..matrix import Matrix
from ..packing import previous_rows
from .elementwise import EAGER, Elementwise


def packed_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
    *,
    elementwise: Elementwise = EAGER,
    run: Run = directly,
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` in PyTorch, on packed rows.

    ``elementwise`` is what happens between the matrix products, and ``run`` calls what loops over the steps.
    """
    return _PackedGRU.apply(inputs, initial, *gate, *candidate, tuple(counts), elementwise, run)


def step(
    inputs: Tensor, previous: Tensor, gate_weight: Matrix, candidate_weight: Matrix, elementwise: Elementwise
) -> tuple[Tensor, ...]:
    """One step on ``n`` rows.

    Args:
        inputs: (n, 3H) what enters [reset, update, candidate] besides the previous state.
        previous: (n, H) the previous state.
        gate_weight: (2H, H).
        candidate_weight: (H, H).
        elementwise: what happens between the products.

    Returns:
        The state (n, H), the gates [r, z] (n, 2H), the candidate (n, H) and r ⊙ h (n, H).
    """
    size = previous.size(1)
    gates = gate_weight.add_to(inputs[:, : 2 * size], previous)
    reset_previous = elementwise.reset(gates, previous)
    candidate = candidate_weight.add_to(inputs[:, 2 * size :], reset_previous)
    state = elementwise.update(candidate, gates, previous)
    return state, gates, candidate, reset_previous


def step_backward(
    grad: Tensor,
    previous: Tensor,
    gates: Tensor,
    candidate: Tensor,
    *,
    gate_weight: Matrix,
    candidate_weight: Matrix,
    elementwise: Elementwise,
) -> tuple[Tensor, Tensor]:
    """The gradients of one step.

    Args:
        grad: (n, H) with respect to the step's state.
        previous: (n, H) the state before the step.
        gates: (n, 2H), as :func:`step` returned them.
        candidate: (n, H), the same.
        gate_weight: (2H, H).
        candidate_weight: (H, H).
        elementwise: what happens between the products.

    Returns:
        The gradients with respect to the inputs (n, 3H) and to the previous state (n, H).
    """
    size = previous.size(1)
    grad_inputs = grad.new_empty(grad.size(0), 3 * size)
    elementwise.update_backward(grad, previous, gates, candidate, grad_inputs)
    grad_reset_previous = candidate_weight.backward(grad_inputs[:, 2 * size :])
    grad_previous = elementwise.reset_backward(grad, grad_reset_previous, previous, gates, grad_inputs)
    gate_weight.add_backward_(grad_previous, grad_inputs[:, : 2 * size])
    return grad_inputs, grad_previous


def joined(parts: Sequence[Tensor]) -> Tensor:
    """The rows of all parts, not copied if there is only one, as in a search."""
    return torch.cat(tuple(parts)) if len(parts) > 1 else parts[0]


class StateGradients:
    """The gradients of a recurrence's states, collected from the last step to the first.

    Args:
        grad_states: (N, H) packed, those that reach the states from outside the recurrence.
        initial: (B, H) the first states.
        counts: as in :class:`~recurrent_mt.kernels.packing.Packing`.

    Attributes:
        initial: (B, H) those of the first states.
        after: for each step, those of its states (n, H), complete once all later steps have been added.
    """

    def __init__(self, grad_states: Tensor, initial: Tensor, counts: Sequence[int]) -> None:
        self.initial = torch.zeros_like(initial)
        self.after = grad_states.clone().split(list(counts))

    def add(self, position: int, grad: Tensor) -> None:
        """Adds the gradient (n, H) of what entered the step at ``position``."""
        before = self.after[position - 1] if position else self.initial
        before[: grad.size(0)] += grad


class _PackedGRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        *tensors, ctx.counts, ctx.elementwise, ctx.run = given
        states, *kept = ctx.run(_forward, tuple(tensors), ctx.counts, ctx.elementwise)
        ctx.save_for_backward(*tensors[1:], states, *kept)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        grads = ctx.run(_backward, (grad_states, *ctx.saved_tensors), ctx.counts, ctx.elementwise)
        return *grads, None, None, None


def _forward(inputs: Tensor, initial: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    """The states (N, H), and what the backward pass needs besides them: gates, candidates, and r ⊙ h."""
    *weights, counts, elementwise = rest
    gate_weight, candidate_weight = (Matrix(*factors).for_steps(len(counts)) for factors in (weights[:2], weights[2:]))
    state, saved = initial, []
    for x in inputs.split(counts):
        saved.append(step(x, state[: x.size(0)], gate_weight, candidate_weight, elementwise))
        state = saved[-1][0]
    return tuple(map(joined, zip(*saved)))


def _backward(grad_states: Tensor, initial: Tensor, *rest: Any) -> tuple[Tensor | None, ...]:
    """The gradients of the tensors that :func:`_forward` was given."""
    *weights, states, gates, candidates, reset_previous, counts, elementwise = rest
    gate_weight, candidate_weight = Matrix(*weights[:2]), Matrix(*weights[2:])
    size = states.size(1)
    previous = previous_rows(states, initial, counts)
    grads = StateGradients(grad_states, initial, counts)
    grad_inputs = grad_states.new_empty(states.size(0), 3 * size)
    stop = states.size(0)
    for position, count in reversed(list(enumerate(counts))):
        rows = slice(stop - count, stop)
        stop -= count
        grad_inputs[rows], grad_previous = step_backward(
            grads.after[position],
            previous[rows],
            gates[rows],
            candidates[rows],
            gate_weight=gate_weight,
            candidate_weight=candidate_weight,
            elementwise=elementwise,
        )
        grads.add(position, grad_previous)
    return (
        grad_inputs,
        grads.initial,
        *gate_weight.gradients(grad_inputs[:, : 2 * size], previous),
        *candidate_weight.gradients(grad_inputs[:, 2 * size :], reset_previous),
    )


def native_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
    *,
    products: torch.dtype,
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` in C++; ``products`` is the format of matrix products."""
    check_native("gru", inputs)
    return _NativeGRU.apply(inputs, initial[: counts[0]], *gate, *candidate, products, tuple(counts))


class _NativeGRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, *rest: Any) -> Tensor:
        states, gates, candidates = torch.ops.recurrent_mt.gru(inputs, *rest)
        *tensors, ctx.products, ctx.counts = rest
        ctx.save_for_backward(*tensors, states, gates, candidates)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, states, gates, candidates = ctx.saved_tensors
        given = *tensors, ctx.products, ctx.counts, states, gates, candidates
        with torch.autocast("cpu", enabled=False):
            return *torch.ops.recurrent_mt.gru_backward(grad_states, *given), None, None


def fused_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` with Triton kernels, in CUDA graphs if there are enough steps."""
    check_triton("gru", inputs)
    from .triton_step import FUSED

    run = recorded_gru if is_worthwhile(inputs, counts) else packed_gru
    return run(inputs, initial, gate, candidate, counts, elementwise=FUSED)


def recorded_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
    *,
    elementwise: Elementwise = EAGER,
) -> Tensor:
    """:func:`packed_gru` in CUDA graphs."""
    around = rectangle(tuple(counts), initial.size(0), inputs.device)
    given = around.spread(inputs), around.extend(initial), gate, candidate, around.counts
    return around.gather(packed_gru(*given, elementwise=elementwise, run=replayed))
