"""The gated recurrent unit in Triton: one kernel between two matrix products, and all steps in a CUDA graph."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from .graphs import is_worthwhile
from .gru import Elementwise, packed_gru, recorded_gru
from .matrix import Matrix
from .triton_math import accumulator, sigmoid, tanh

BLOCK = 512
"""Numbers per program: a step has few rows, and they must be enough for all multiprocessors."""


@triton.jit(do_not_specialize=["numbers"])
def reset_kernel(
    gates, previous, reset_previous, numbers, WIDTH: tl.constexpr, BLOCK: tl.constexpr, ACCUMULATOR: tl.constexpr
):
    """The gates (n, 2H), written over their pre-activations, and r ⊙ h (n, H)."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < numbers
    gate = gates + (index // WIDTH) * (2 * WIDTH) + index % WIDTH
    reset = sigmoid(tl.load(gate, mask=mask, other=0.0).to(ACCUMULATOR))
    update = sigmoid(tl.load(gate + WIDTH, mask=mask, other=0.0).to(ACCUMULATOR))
    state = tl.load(previous + index, mask=mask, other=0.0).to(ACCUMULATOR)
    tl.store(gate, reset, mask=mask)
    tl.store(gate + WIDTH, update, mask=mask)
    tl.store(reset_previous + index, reset * state, mask=mask)


@triton.jit(do_not_specialize=["numbers"])
def update_kernel(
    candidates, gates, previous, states, numbers, WIDTH: tl.constexpr, BLOCK: tl.constexpr, ACCUMULATOR: tl.constexpr
):
    """The candidates (n, H), written over their pre-activations, and the states (n, H)."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < numbers
    gate = gates + (index // WIDTH) * (2 * WIDTH) + index % WIDTH
    update = tl.load(gate + WIDTH, mask=mask, other=0.0).to(ACCUMULATOR)
    candidate = tanh(tl.load(candidates + index, mask=mask, other=0.0).to(ACCUMULATOR))
    state = tl.load(previous + index, mask=mask, other=0.0).to(ACCUMULATOR)
    tl.store(candidates + index, candidate, mask=mask)
    tl.store(states + index, update * state + (1.0 - update) * candidate, mask=mask)


@triton.jit(do_not_specialize=["numbers"])
def update_gradient_kernel(
    grad,
    previous,
    gates,
    candidates,
    grad_inputs,
    numbers,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """The gradients of update gate and candidate before activation: the last two of three blocks of (n, 3H)."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < numbers
    row, column = index // WIDTH, index % WIDTH
    update = tl.load(gates + row * (2 * WIDTH) + WIDTH + column, mask=mask, other=0.0).to(ACCUMULATOR)
    g = tl.load(grad + index, mask=mask, other=0.0).to(ACCUMULATOR)
    candidate = tl.load(candidates + index, mask=mask, other=0.0).to(ACCUMULATOR)
    state = tl.load(previous + index, mask=mask, other=0.0).to(ACCUMULATOR)
    of_update = grad_inputs + row * (3 * WIDTH) + WIDTH + column
    tl.store(of_update, g * (state - candidate) * update * (1.0 - update), mask=mask)
    tl.store(of_update + WIDTH, g * (1.0 - update) * (1.0 - candidate * candidate), mask=mask)


@triton.jit(do_not_specialize=["numbers"])
def reset_gradient_kernel(
    grad,
    grad_reset_previous,
    previous,
    gates,
    grad_inputs,
    grad_previous,
    numbers,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """The gradient of the reset gate's pre-activation, the first block of (n, 3H), and the previous state's (n, H)."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < numbers
    row, column = index // WIDTH, index % WIDTH
    gate = gates + row * (2 * WIDTH) + column
    reset = tl.load(gate, mask=mask, other=0.0).to(ACCUMULATOR)
    update = tl.load(gate + WIDTH, mask=mask, other=0.0).to(ACCUMULATOR)
    g = tl.load(grad + index, mask=mask, other=0.0).to(ACCUMULATOR)
    product = tl.load(grad_reset_previous + index, mask=mask, other=0.0).to(ACCUMULATOR)
    state = tl.load(previous + index, mask=mask, other=0.0).to(ACCUMULATOR)
    tl.store(grad_inputs + row * (3 * WIDTH) + column, product * state * reset * (1.0 - reset), mask=mask)
    tl.store(grad_previous + index, g * update + product * reset, mask=mask)


class FusedElementwise(Elementwise):
    """Each part of :class:`~.gru.Elementwise` as one kernel."""

    def reset(self, gates: Tensor, previous: Tensor) -> Tensor:
        reset_previous = gates.new_empty(previous.shape)
        _launch(reset_kernel, previous, gates, previous.contiguous(), reset_previous)
        return reset_previous

    def update(self, candidate: Tensor, gates: Tensor, previous: Tensor) -> Tensor:
        state = candidate.new_empty(candidate.shape)
        _launch(update_kernel, previous, candidate, gates, previous.contiguous(), state)
        return state

    def update_backward(
        self, grad: Tensor, previous: Tensor, gates: Tensor, candidate: Tensor, grad_inputs: Tensor
    ) -> None:
        rows = (tensor.contiguous() for tensor in (grad, previous, gates, candidate))
        _launch(update_gradient_kernel, previous, *rows, grad_inputs)

    def reset_backward(
        self, grad: Tensor, grad_reset_previous: Tensor, previous: Tensor, gates: Tensor, grad_inputs: Tensor
    ) -> Tensor:
        rows = (tensor.contiguous() for tensor in (grad, grad_reset_previous, previous, gates))
        grad_previous = grad.new_empty(grad.shape)
        _launch(reset_gradient_kernel, previous, *rows, grad_inputs, grad_previous)
        return grad_previous


FUSED = FusedElementwise()
"""A single one, by which :mod:`.graphs` knows a recurrence again."""


def _launch(kernel: triton.runtime.JITFunction, like: Tensor, *tensors: Tensor) -> None:
    """Runs a kernel on every number of rows like these (n, H)."""
    grid = (triton.cdiv(like.numel(), BLOCK),)
    kernel[grid](*tensors, like.numel(), WIDTH=like.size(1), BLOCK=BLOCK, ACCUMULATOR=accumulator(like))


def fused_gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    batch_sizes: Sequence[int],
    products: torch.dtype,
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` with Triton kernels, in CUDA graphs if there are enough steps."""
    run = recorded_gru if is_worthwhile(inputs, batch_sizes) else packed_gru
    return run(inputs, initial, gate, candidate, batch_sizes, products, FUSED)
