"""The gated recurrent unit of Cho et al. (2014) over a packed batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dispatch import Operation, in_triton
from .graphs import Run, directly, rectangle, replayed
from .matrix import Matrix, check_shape
from .packing import previous_rows


def gru(
    inputs: Tensor,
    initial: Tensor,
    gate_weight: Tensor | Matrix,
    candidate_weight: Tensor | Matrix,
    *,
    batch_sizes: Sequence[int],
) -> Tensor:
    """Runs a GRU over packed rows.

    With h the previous state, r the reset gate, and z the update gate (z keeps the old state)::

        [r z] = σ(x_rz + U_rz h)    h̃ = tanh(x_h + U (r ⊙ h))    h' = z ⊙ h + (1 − z) ⊙ h̃

    Cho et al. (2014), "Learning Phrase Representations using RNN Encoder–Decoder", eqs. (5)–(8). The reset gate acts
    before the recurrent product; ``torch.nn.GRU`` applies it after, which is a different function.

    Args:
        inputs: (N, 3H) the inputs' products with their weights, biases included, for [reset, update, candidate].
        initial: (B, H) the first states, in packed order.
        gate_weight: (2H, H) U_r above U_z, whole or a product of two matrices.
        candidate_weight: (H, H) U, the same way.
        batch_sizes: as in :class:`~recurrent_mt.kernels.packing.Packing`.

    Returns:
        (N, H) the states, in the weights' dtype; see :class:`recurrent_mt.kernels.dispatch.Call`.

    Raises:
        ValueError: if the shapes do not fit together, or if an implementation is asked for that cannot run here.
    """
    size = initial.size(1)
    gate = check_shape("gates' recurrent", gate_weight, (2 * size, size))
    candidate = check_shape("candidate's recurrent", candidate_weight, (size, size))
    if inputs.shape != (sum(batch_sizes), 3 * size):
        raise ValueError(f"inputs must be {(sum(batch_sizes), 3 * size)}, not {tuple(inputs.shape)}")
    if not batch_sizes:
        return inputs.new_zeros(0, size)
    if batch_sizes[0] > initial.size(0):
        raise ValueError(f"{batch_sizes[0]} sentences start, but there are {initial.size(0)} initial states")
    call = GRU.call(gate.left)
    with call.outside_autocast:
        inputs, initial = inputs.to(call.states), initial.to(call.states)
        return call.run(inputs, initial, gate, candidate, tuple(batch_sizes), call.products)


def reference_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    batch_sizes: Sequence[int],
    products: torch.dtype,
) -> Tensor:
    """Computes :func:`gru` as a loop over the equations."""
    U_rz, U = gate.whole(), candidate.whole()
    size, h, states = U.size(0), initial, []
    for x in inputs.split(list(batch_sizes)):
        h = h[: x.size(0)]
        x_rz, x_candidate = x[:, : 2 * size], x[:, 2 * size :]
        r, z = torch.sigmoid(x_rz + h @ U_rz.t()).chunk(2, dim=1)
        h_candidate = torch.tanh(x_candidate + (r * h) @ U.t())
        h = z * h + (1 - z) * h_candidate
        states.append(h)
    return torch.cat(states)


class Elementwise:
    """What a step does between its matrix products, in PyTorch operations; n rows, gates ordered [r, z]."""

    def reset(self, gates: Tensor, previous: Tensor) -> Tensor:
        """The product r ⊙ h (n, H), and the gates (n, 2H), written over their pre-activations."""
        return gates.sigmoid_()[:, : previous.size(1)] * previous

    def update(self, candidate: Tensor, gates: Tensor, previous: Tensor) -> Tensor:
        """The state z ⊙ h + (1 − z) ⊙ h̃ (n, H), and the candidate h̃ (n, H), written over its pre-activation."""
        return torch.lerp(candidate.tanh_(), previous, gates[:, previous.size(1) :])

    def update_backward(
        self, grad: Tensor, previous: Tensor, gates: Tensor, candidate: Tensor, grad_inputs: Tensor
    ) -> None:
        """Writes the last two of the three blocks of the inputs' gradient (n, 3H)."""
        size = previous.size(1)
        update = gates[:, size:]
        torch.mul(grad * (1 - update), 1 - candidate * candidate, out=grad_inputs[:, 2 * size :])
        torch.mul(grad * (previous - candidate), update * (1 - update), out=grad_inputs[:, size : 2 * size])

    def reset_backward(
        self, grad: Tensor, grad_reset_previous: Tensor, previous: Tensor, gates: Tensor, grad_inputs: Tensor
    ) -> Tensor:
        """The gradient of h (n, H) without the gates' product; writes the first block of the inputs' gradient."""
        size = previous.size(1)
        reset, update = gates[:, :size], gates[:, size:]
        torch.mul(grad_reset_previous * previous, reset * (1 - reset), out=grad_inputs[:, :size])
        return torch.addcmul(grad * update, grad_reset_previous, reset)


EAGER = Elementwise()


def packed_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    batch_sizes: Sequence[int],
    products: torch.dtype,
    elementwise: Elementwise = EAGER,
    run: Run = directly,
) -> Tensor:
    """Computes :func:`gru` in PyTorch, on packed rows; the weights' gradients are one product each.

    ``elementwise`` is what happens between the matrix products, and ``run`` calls what loops over the steps.
    """
    constants = tuple(batch_sizes), elementwise
    return _GRU.apply(
        lambda *tensors: run(_forward, tensors, *constants),
        lambda *tensors: run(_backward, tensors, *constants),
        inputs,
        initial,
        *gate.to(products),
        *candidate.to(products),
    )


def step(
    inputs: Tensor, previous: Tensor, gate_weight: Matrix, candidate_weight: Matrix, elementwise: Elementwise
) -> tuple[Tensor, ...]:
    """One step on n rows: the state (n, H), the gates [r, z] (n, 2H), the candidate (n, H) and r ⊙ h (n, H).

    ``inputs`` (n, 3H) are what enters [reset, update, candidate] besides the previous state (n, H).
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
    """The gradients of inputs (n, 3H) and previous state (n, H) of one step, from that of its state (n, H).

    Gates and candidate are as :func:`step` returned them.
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
        batch_sizes: as in :class:`~recurrent_mt.kernels.packing.Packing`.

    Attributes:
        initial: (B, H) those of the first states.
        after: for each step, those of its states (n, H), complete once all later steps have been added.
    """

    def __init__(self, grad_states: Tensor, initial: Tensor, batch_sizes: Sequence[int]) -> None:
        self.initial = torch.zeros_like(initial)
        self.after = grad_states.clone().split(list(batch_sizes))

    def add(self, position: int, grad: Tensor) -> None:
        """Adds the gradient (n, H) of what entered the step at ``position``."""
        before = self.after[position - 1] if position else self.initial
        before[: grad.size(0)] += grad


class _GRU(torch.autograd.Function):
    """A GRU whose implementation has a backward pass of its own.

    ``forward`` returns the states and whatever ``backward`` takes after what it was given, but for the inputs.
    """

    @staticmethod
    def forward(
        ctx: Any, forward: Callable[..., Any], backward: Callable[..., Any], inputs: Tensor, *given: Tensor | None
    ) -> Tensor:
        states, *kept = forward(inputs, *given)
        ctx.save_for_backward(*given, states, *kept)
        ctx.differentiate = backward
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        with torch.autocast(grad_states.device.type, enabled=False):
            return None, None, *ctx.differentiate(grad_states, *ctx.saved_tensors)


def _forward(
    inputs: Tensor,
    initial: Tensor,
    gate_left: Tensor,
    gate_right: Tensor | None,
    candidate_left: Tensor,
    candidate_right: Tensor | None,
    batch_sizes: tuple[int, ...],
    elementwise: Elementwise,
) -> tuple[Tensor, ...]:
    """The states (N, H), and what the backward pass needs besides them: gates, candidates, and r ⊙ h."""
    gate_weight = Matrix(gate_left, gate_right).for_steps(len(batch_sizes))
    candidate_weight = Matrix(candidate_left, candidate_right).for_steps(len(batch_sizes))
    state, made = initial, []
    for x in inputs.split(batch_sizes):
        made.append(step(x, state[: x.size(0)], gate_weight, candidate_weight, elementwise))
        state = made[-1][0]
    return tuple(map(joined, zip(*made)))


def _backward(  # noqa: PLR0913 (so do graphs)
    grad_states: Tensor,
    initial: Tensor,
    gate_left: Tensor,
    gate_right: Tensor | None,
    candidate_left: Tensor,
    candidate_right: Tensor | None,
    states: Tensor,
    gates: Tensor,
    candidates: Tensor,
    reset_previous: Tensor,
    batch_sizes: tuple[int, ...],
    elementwise: Elementwise,
) -> tuple[Tensor | None, ...]:
    """The gradients of the tensors that :func:`_forward` was given."""
    gate_weight, candidate_weight = Matrix(gate_left, gate_right), Matrix(candidate_left, candidate_right)
    size = states.size(1)
    previous = previous_rows(states, initial, batch_sizes)
    grads = StateGradients(grad_states, initial, batch_sizes)
    grad_inputs = grad_states.new_empty(states.size(0), 3 * size)
    stop = states.size(0)
    for position, count in reversed(list(enumerate(batch_sizes))):
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
    batch_sizes: Sequence[int],
    products: torch.dtype,
) -> Tensor:
    """Computes :func:`gru` in C++, ``native/gru.cpp``, which narrows the weights while it copies them."""
    native, constants = torch.ops.recurrent_mt, (products, batch_sizes)
    return _GRU.apply(
        lambda *tensors: native.gru(*tensors, *constants),
        lambda *tensors: native.gru_backward(*tensors, *constants),
        inputs,
        initial[: batch_sizes[0]],
        *gate,
        *candidate,
    )


def recorded_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    batch_sizes: Sequence[int],
    products: torch.dtype,
    elementwise: Elementwise = EAGER,
) -> Tensor:
    """:func:`packed_gru` in CUDA graphs."""
    around = rectangle(tuple(batch_sizes), initial.size(0), inputs.device)
    given = around.spread(inputs), around.extend(initial), gate, candidate, around.batch_sizes
    return around.gather(packed_gru(*given, products, elementwise, replayed))


GRU = Operation(
    "gru",
    reference=reference_gru,
    packed=packed_gru,
    native=native_gru,
    fused=in_triton("triton_gru", "fused_gru"),
)
