"""The minimal gated recurrent unit of Feng et al. (2024) over a packed batch: a recurrence without a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dispatch import Operation
from .packing import following_rows, previous_rows, rows_but_last


def min_gru(inputs: Tensor, initial: Tensor, *, batch_sizes: Sequence[int], shift: Tensor | None = None) -> Tensor:
    """Runs a minimal GRU over packed rows.

    With h the previous state::

        z = σ(x_z)    h' = (1 − z) ⊙ h + z ⊙ x_h

    Feng et al. (2024), "Were RNNs All We Needed?", section 3.1. As there, z lets the new in; in
    :func:`recurrent_mt.kernels.gru.gru`, it keeps the old. Gate and candidate read the input alone: all products of a
    sentence are computed before it begins, and what is left takes about as long as to read the inputs and to write the
    states.

    With a shift a, each row's inputs x are first joined by those of the row before, x + a ⊙ x_before: a depthwise
    convolution of width 2, as the wider ones before other recurrences without a matrix (Gu & Dao 2023, "Mamba"; De et
    al. 2024, "Griffin"). What Peng et al. (2023), "RWKV", call a token shift mixes the two likewise.

    Args:
        inputs: (N, 2H) the inputs' products with their weights, biases included, for [update, candidate].
        initial: (B, H) the first states, in packed order.
        batch_sizes: as in :class:`~recurrent_mt.kernels.packing.Packing`.
        shift: (2H,) a, or None. Before a sentence's first row there are zeros.

    Returns:
        (N, H) the states, in the dtype of ``initial``.

    Raises:
        ValueError: if the shapes do not fit together, or if an implementation is asked for that cannot run here.
    """
    size, rows = initial.size(1), sum(batch_sizes)
    if inputs.shape != (rows, 2 * size):
        raise ValueError(f"inputs must be {(rows, 2 * size)}, not {tuple(inputs.shape)}")
    if shift is not None and shift.shape != (2 * size,):
        raise ValueError(f"shift must be {(2 * size,)}, not {tuple(shift.shape)}")
    if not batch_sizes:
        return initial.new_zeros(0, size)
    if batch_sizes[0] > initial.size(0):
        raise ValueError(f"{batch_sizes[0]} sentences start, but there are {initial.size(0)} initial states")
    call = MIN_GRU.call(initial)
    if shift is not None:
        shift = shift.to(call.states).contiguous()
    with call.outside_autocast:
        return call.run(inputs.to(call.states), initial, tuple(batch_sizes), shift)


def reference_min_gru(inputs: Tensor, initial: Tensor, batch_sizes: tuple[int, ...], shift: Tensor | None) -> Tensor:
    """Computes :func:`min_gru` as a loop over the equations."""
    h, states = initial, []
    a, x_before = torch.zeros(()) if shift is None else shift, inputs.new_zeros(batch_sizes[0], inputs.size(1))
    for x in inputs.split(batch_sizes):
        x_z, x_h = (x + a * x_before[: x.size(0)]).chunk(2, dim=1)
        z = torch.sigmoid(x_z)
        h = (1 - z) * h[: x.size(0)] + z * x_h
        x_before = x
        states.append(h)
    return torch.cat(states)


def packed_min_gru(inputs: Tensor, initial: Tensor, batch_sizes: tuple[int, ...], shift: Tensor | None) -> Tensor:
    """Computes :func:`min_gru` in PyTorch; its gradient is the same recurrence, from the last row to the first."""
    if shift is not None:
        none = inputs.new_zeros(batch_sizes[0], inputs.size(1))
        inputs = inputs + shift * previous_rows(inputs, none, batch_sizes)
    return _MinGRU.apply(_forward, _backward, inputs, initial, batch_sizes, None)


class _MinGRU(torch.autograd.Function):
    """A minimal GRU whose implementation has a backward pass of its own.

    ``forward`` returns the states and whatever ``backward`` takes after inputs, initial states, shift, and states;
    ``backward``, the gradients of the first three.
    """

    @staticmethod
    def forward(
        ctx: Any,
        forward: Callable[..., Any],
        backward: Callable[..., Any],
        inputs: Tensor,
        initial: Tensor,
        batch_sizes: tuple[int, ...],
        shift: Tensor | None,
    ) -> Tensor:
        states, *kept = forward(inputs, initial, shift, batch_sizes)
        ctx.save_for_backward(inputs, initial, shift, states, *kept)
        ctx.differentiate, ctx.batch_sizes = backward, batch_sizes
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_inputs, grad_initial, grad_shift = ctx.differentiate(grad, *ctx.saved_tensors, ctx.batch_sizes)
        return None, None, grad_inputs, grad_initial, None, grad_shift


def _forward(inputs: Tensor, initial: Tensor, shift: None, batch_sizes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """The states and the update gates (N, H)."""
    update, candidate = inputs.chunk(2, dim=1)
    update = update.sigmoid()
    keep, add, begin = 1 - update, update * candidate, batch_sizes[0]
    add[:begin] += keep[:begin] * initial[:begin]
    return linear_recurrence(keep, add, batch_sizes), update


def _backward(
    grad: Tensor,
    inputs: Tensor,
    initial: Tensor,
    shift: None,
    states: Tensor,
    update: Tensor,
    batch_sizes: tuple[int, ...],
) -> tuple[Tensor, Tensor, None]:
    """The gradients of inputs and first states."""
    candidate, keep, begin = inputs.chunk(2, dim=1)[1], 1 - update, batch_sizes[0]
    # What a state passes on is kept by the gate of the row that reads it.
    passed_on = following_rows(keep, batch_sizes)
    grad = linear_recurrence(passed_on, grad, batch_sizes, backward=True)
    kept = grad * keep
    change = candidate - previous_rows(states, initial, batch_sizes)
    grad_initial = torch.zeros_like(initial)
    grad_initial[:begin] = kept[:begin]
    return torch.cat([kept * update * change, grad * update], dim=1), grad_initial, None


def linear_recurrence(keep: Tensor, add: Tensor, batch_sizes: Sequence[int], *, backward: bool = False) -> Tensor:
    """Solves h' = keep ⊙ h + add over packed rows (N, H), from zeros at the start, or backward from zeros at the end.

    On a CPU, one position after the other. On a GPU, where each step costs a launch, in log₂ T passes over all rows,
    after each of which a row has taken in twice as many positions (Hillis & Steele 1986, "Data Parallel Algorithms").
    """
    if keep.device.type == "cpu":
        return position_by_position(keep, add, batch_sizes, backward=backward)
    return by_doubling(keep, add, batch_sizes, backward=backward)


def position_by_position(keep: Tensor, add: Tensor, batch_sizes: Sequence[int], *, backward: bool) -> Tensor:
    """Computes :func:`linear_recurrence` with a step for each position."""
    states = torch.empty_like(add)
    positions = list(zip(*(rows.split(list(batch_sizes)) for rows in (keep, add, states))))
    before = add[:0]
    for kept, added, state in reversed(positions) if backward else positions:
        running = min(before.size(0), state.size(0))
        torch.addcmul(added[:running], kept[:running], before[:running], out=state[:running])
        state[running:] = added[running:]
        before = state
    return states


def by_doubling(keep: Tensor, add: Tensor, batch_sizes: Sequence[int], *, backward: bool) -> Tensor:
    """Computes :func:`linear_recurrence` with a pass for each doubling of the positions that a row has taken in."""
    distance = 1
    while distance < len(batch_sizes):
        later = torch.arange(sum(batch_sizes[:distance]), keep.size(0), device=keep.device)
        earlier = rows_but_last(batch_sizes, distance, keep.device)
        to, source = (earlier, later) if backward else (later, earlier)
        kept = keep.index_select(0, to)
        add = add.index_add(0, to, kept * add.index_select(0, source))
        keep = keep.index_copy(0, to, kept * keep.index_select(0, source))
        distance *= 2
    return add


def native_min_gru(inputs: Tensor, initial: Tensor, batch_sizes: tuple[int, ...], shift: Tensor | None) -> Tensor:
    """Computes :func:`min_gru` in C++, ``native/min_gru.cpp``."""
    native = torch.ops.recurrent_mt
    return _MinGRU.apply(
        lambda *given: [native.min_gru(*given)], native.min_gru_backward, inputs, initial, batch_sizes, shift
    )


MIN_GRU = Operation(
    "min_gru", reference=reference_min_gru, packed=packed_min_gru, native=native_min_gru, fused=packed_min_gru
)
