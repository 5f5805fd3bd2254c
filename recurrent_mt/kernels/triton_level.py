"""One level of the pyramid in Triton: everything between its matrix products is one kernel per pass.

The products of all nodes below with the weights of both children are one matrix product. The children are not copied
next to each other; a kernel finds their rows. In the products, a sentence has one row more than it has nodes, because
its last node is nobody's left child and its first is nobody's right child.

The number of rows differs from level to level: kernels must not be recompiled for multiples of 16.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from .dilated_grconv import DilatedGRConvOutput, DilatedGRConvWeights, packed_dilated_grconv
from .grconv import GRConvOutput, GRConvWeights, Levels, packed_grconv
from .grconv_level import Level, LevelWeights, PyramidLayout
from .matrix import add_product_, product
from .triton_math import accumulator, accumulator_dtype, blocks, tanh


@triton.jit
def _pre_activation(products, bias, left, right, column, mask, PRE: tl.constexpr, ACCUMULATOR: tl.constexpr):
    """A column of W^l l + W^r r + b for each node, or a column of the logits."""
    from_left = tl.load(products + left * (2 * PRE) + column, mask=mask, other=0.0).to(ACCUMULATOR)
    from_right = tl.load(products + right * (2 * PRE) + PRE + column, mask=mask, other=0.0).to(ACCUMULATOR)
    return from_left + from_right + tl.load(bias + column, mask=column < PRE, other=0.0).to(ACCUMULATOR)


@triton.jit(do_not_specialize=["left_leaves", "count", "before", "first"])
def level_kernel(
    products,
    bias,
    below,
    left_leaves,
    nodes,
    candidates,
    gates,
    count,
    before,
    first,
    WIDTH: tl.constexpr,
    GATES: tl.constexpr,
    TANH: tl.constexpr,
    AGAIN: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Nodes (n, H) from the nodes below, with candidates (n, H) and gates (n, 3, 1 or H).

    Candidates and gates are computed from the products (m, 2(H + G)) of the m nodes below, and kept; or, with AGAIN,
    they are read.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = row < count
    left = tl.load(left_leaves + row, mask=inside, other=0) - before
    right = row + first
    PRE: tl.constexpr = WIDTH + 3 * GATES
    for start in range(0, WIDTH, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        mask = inside & (column < WIDTH)
        # Which of a node's gates belongs to a unit: its own, or the only one.
        unit = column if GATES == WIDTH else tl.zeros([1, 1], tl.int32)
        gate_mask = inside & (unit < GATES)
        gate_row = gates + row * (3 * GATES) + unit
        if AGAIN:
            candidate = tl.load(candidates + row * WIDTH + column, mask=mask, other=0.0).to(ACCUMULATOR)
            new = tl.load(gate_row, mask=gate_mask, other=0.0).to(ACCUMULATOR)
            to_left = tl.load(gate_row + GATES, mask=gate_mask, other=0.0).to(ACCUMULATOR)
            to_right = tl.load(gate_row + 2 * GATES, mask=gate_mask, other=0.0).to(ACCUMULATOR)
        else:
            candidate = _pre_activation(products, bias, left, right, column, mask, PRE, ACCUMULATOR)
            candidate = tanh(candidate) if TANH else tl.where(candidate < 0, 0.0, candidate)
            logit = WIDTH + unit
            new = _pre_activation(products, bias, left, right, logit, gate_mask, PRE, ACCUMULATOR)
            to_left = _pre_activation(products, bias, left, right, logit + GATES, gate_mask, PRE, ACCUMULATOR)
            to_right = _pre_activation(products, bias, left, right, logit + 2 * GATES, gate_mask, PRE, ACCUMULATOR)
            largest = tl.maximum(new, tl.maximum(to_left, to_right))
            new, to_left, to_right = tl.exp(new - largest), tl.exp(to_left - largest), tl.exp(to_right - largest)
            total = new + to_left + to_right
            new, to_left, to_right = new / total, to_left / total, to_right / total
            tl.store(candidates + row * WIDTH + column, candidate, mask=mask)
            tl.store(gate_row, new, mask=gate_mask)
            tl.store(gate_row + GATES, to_left, mask=gate_mask)
            tl.store(gate_row + 2 * GATES, to_right, mask=gate_mask)
        left_child = tl.load(below + left * WIDTH + column, mask=mask, other=0.0).to(ACCUMULATOR)
        right_child = tl.load(below + right * WIDTH + column, mask=mask, other=0.0).to(ACCUMULATOR)
        node = new * candidate + to_left * left_child + to_right * right_child
        tl.store(nodes + row * WIDTH + column, node, mask=mask)


@triton.jit
def _dot_products(
    grad,
    candidates,
    below,
    parent,
    left,
    right,
    mask,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """The gradients (rows, 1) of a parent's three gates: with its candidate, its left child, and its right child."""
    new = tl.zeros([ROWS, 1], ACCUMULATOR)
    to_left = tl.zeros([ROWS, 1], ACCUMULATOR)
    to_right = tl.zeros([ROWS, 1], ACCUMULATOR)
    for start in range(0, WIDTH, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        inside = mask & (column < WIDTH)
        g = tl.load(grad + parent * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
        c = tl.load(candidates + parent * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
        l_ = tl.load(below + left * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
        r_ = tl.load(below + right * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
        new += tl.sum(g * c, axis=1)[:, None]
        to_left += tl.sum(g * l_, axis=1)[:, None]
        to_right += tl.sum(g * r_, axis=1)[:, None]
    return new, to_left, to_right


@triton.jit
def _parent_gradient(
    grad,
    candidates,
    gates,
    below,
    grad_products,
    parent,
    left,
    right,
    mask,
    stored,
    column,
    grad_new,
    grad_left,
    grad_right,
    WIDTH: tl.constexpr,
    GATES: tl.constexpr,
    TANH: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Writes one block of a parent's gradient before activation, zeros where there is no parent.

    Returns what the left and the right child get without a product. The gradients of the gates are passed in if a node
    has one set of them.
    """
    inside = mask & (column < WIDTH)
    unit = column if GATES == WIDTH else tl.zeros([1, 1], tl.int32)
    gate_mask = mask & (unit < GATES)
    g = tl.load(grad + parent * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
    candidate = tl.load(candidates + parent * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
    gate_row = gates + parent * (3 * GATES) + unit
    new = tl.load(gate_row, mask=gate_mask, other=0.0).to(ACCUMULATOR)
    to_left = tl.load(gate_row + GATES, mask=gate_mask, other=0.0).to(ACCUMULATOR)
    to_right = tl.load(gate_row + 2 * GATES, mask=gate_mask, other=0.0).to(ACCUMULATOR)
    if GATES == WIDTH:
        grad_new = g * candidate
        grad_left = g * tl.load(below + left * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
        grad_right = g * tl.load(below + right * WIDTH + column, mask=inside, other=0.0).to(ACCUMULATOR)
    mean = new * grad_new + to_left * grad_left + to_right * grad_right
    grad_candidate = g * new
    if TANH:
        grad_candidate *= 1.0 - candidate * candidate
    else:
        grad_candidate = tl.where(candidate <= 0, 0.0, grad_candidate)
    gate_stored = stored & (unit < GATES)
    logit = grad_products + WIDTH + unit
    tl.store(grad_products + column, grad_candidate, mask=stored & (column < WIDTH))
    tl.store(logit, new * (grad_new - mean), mask=gate_stored)
    tl.store(logit + GATES, to_left * (grad_left - mean), mask=gate_stored)
    tl.store(logit + 2 * GATES, to_right * (grad_right - mean), mask=gate_stored)
    return g * to_left, g * to_right


@triton.jit(do_not_specialize=["left_leaves", "parents", "size_below", "before", "parents_before", "first"])
def gradient_kernel(
    grad,
    candidates,
    gates,
    below,
    left_leaves,
    parents,
    grad_products,
    grad_below,
    size_below,
    before,
    parents_before,
    first,
    WIDTH: tl.constexpr,
    GATES: tl.constexpr,
    TANH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """For each node below, the gradient of its two products (m, 2(H + G)) and what it gets without them (m, H).

    A node has up to two parents, and no other program writes its rows, so nothing is accumulated in memory.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    stored = row < size_below
    # As a left child and as a right one.
    parent_p = tl.load(parents + row, mask=stored, other=-1)
    mask_p = parent_p >= 0
    parent_p -= parents_before
    right_p = parent_p + first
    parent_q = row - first
    mask_q = stored & (parent_q >= 0)
    left_q = tl.load(left_leaves + parent_q, mask=mask_q, other=0) - before
    new_p = tl.zeros([1, 1], ACCUMULATOR)
    left_of_p, right_of_p, new_q, left_of_q, right_of_q = new_p, new_p, new_p, new_p, new_p
    if GATES != WIDTH:
        new_p, left_of_p, right_of_p = _dot_products(
            grad, candidates, below, parent_p, row, right_p, mask_p, WIDTH, ROWS, COLUMNS, ACCUMULATOR
        )
        new_q, left_of_q, right_of_q = _dot_products(
            grad, candidates, below, parent_q, left_q, row, mask_q, WIDTH, ROWS, COLUMNS, ACCUMULATOR
        )
    PRE: tl.constexpr = WIDTH + 3 * GATES
    products = grad_products + row * (2 * PRE)
    for start in range(0, WIDTH, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        from_p, _ = _parent_gradient(
            grad, candidates, gates, below, products, parent_p, row, right_p, mask_p, stored, column,
            new_p, left_of_p, right_of_p, WIDTH, GATES, TANH, ACCUMULATOR,
        )  # fmt: skip
        _, from_q = _parent_gradient(
            grad, candidates, gates, below, products + PRE, parent_q, left_q, row, mask_q, stored, column,
            new_q, left_of_q, right_of_q, WIDTH, GATES, TANH, ACCUMULATOR,
        )  # fmt: skip
        tl.store(grad_below + row * WIDTH + column, from_p + from_q, mask=stored & (column < WIDTH))


class FusedLevel(Level):
    """A level whose children are found by their rows and never copied; see :class:`~.grconv_level.Level`."""

    def __init__(self, pyramid: PyramidLayout, level: int, below: Tensor) -> None:
        self.below = below.contiguous()
        self.left_leaves, self.before = pyramid.left_leaves(level)
        self.parents, self.parents_before = pyramid.parents(level)
        self.first, self.count = pyramid.first(level), pyramid.size(level)
        self.is_tanh = pyramid.is_tanh

    def grow(self, weights: LevelWeights) -> tuple[Tensor, Tensor, Tensor]:
        width = self.below.size(1)
        products = product(self.below, weights.both.flatten(0, 1).t()).to(self.below.dtype)
        candidate = torch.empty(self.count, width, dtype=self.below.dtype, device=self.below.device)
        gates = candidate.new_empty(self.count, 3)
        nodes = self._launch(products, weights.bias, candidate, gates, again=False)
        return candidate, gates, nodes

    def merge(self, candidate: Tensor, gates: Tensor) -> Tensor:
        return self._launch(candidate, candidate, candidate, gates, again=True)

    def _launch(self, products: Tensor, bias: Tensor, candidate: Tensor, gates: Tensor, *, again: bool) -> Tensor:
        nodes, block = torch.empty_like(candidate), blocks(self.below.size(1))
        level_kernel[block.programs(self.count)](
            products, bias, self.below, self.left_leaves, nodes, candidate, gates, self.count, self.before, self.first,
            WIDTH=self.below.size(1), GATES=1, TANH=self.is_tanh, AGAIN=again,
            ROWS=block.rows, COLUMNS=block.columns, ACCUMULATOR=accumulator(nodes),
        )  # fmt: skip
        return nodes

    def backward(
        self, grad: Tensor, candidate: Tensor, gates: Tensor, *, weights: LevelWeights, sums: LevelWeights
    ) -> Tensor:
        both, pre = weights.both.flatten(0, 1), weights.bias.numel()
        grad_products, grad_below = grad.new_empty(self.below.size(0), 2 * pre), torch.empty_like(self.below)
        block = blocks(self.below.size(1))
        gradient_kernel[block.programs(self.below.size(0))](
            grad.contiguous(), candidate, gates, self.below, self.left_leaves, self.parents, grad_products, grad_below,
            self.below.size(0), self.before, self.parents_before, self.first,
            WIDTH=self.below.size(1), GATES=1, TANH=self.is_tanh,
            ROWS=block.rows, COLUMNS=block.columns, ACCUMULATOR=accumulator(grad),
        )  # fmt: skip
        narrow = grad_products.to(both.dtype)
        sums.both.flatten(0, 1).add_(narrow.t() @ self.below.to(both.dtype))
        sums.bias.add_(grad_products[:, :pre].sum(dim=0, dtype=sums.bias.dtype))
        return add_product_(grad_below, narrow, both)

    @staticmethod
    def zero_sums(weights: LevelWeights) -> LevelWeights:
        """Returns zeros for the sums of gradients, at least in float32, because a pyramid has many levels."""
        return LevelWeights(*(torch.zeros_like(weight, dtype=accumulator_dtype(weights.both)) for weight in weights))


def fused_grconv(
    leaves: Tensor, weights: GRConvWeights, batch_sizes: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` with Triton kernels."""
    return packed_grconv(leaves.contiguous(), weights, batch_sizes, activation, levels, FusedLevel)


def fused_dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, batch_sizes: Sequence[int], height: int, products: torch.dtype
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` with Triton kernels."""
    return packed_dilated_grconv(leaves.contiguous(), weights, batch_sizes, height, products, FusedLevel)
