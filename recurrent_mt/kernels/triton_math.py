"""What the Triton kernels share: functions of blocks of numbers, and how large the blocks are.

Kernels load numbers of any floating-point type and compute in float32, or in float64 if the tensors are float64. Rows
are counted in int64: rows times width may exceed 2³¹.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

NUMBERS = 2048
"""How many numbers of each operand a program holds at once: 16 per thread in four warps."""


@triton.jit
def sigmoid(x):
    """1 / (1 + exp(-x)) without overflow; keeps NaN."""
    small = tl.exp(-tl.abs(x))
    return tl.where(x < 0, small, 1.0) / (1.0 + small)


@triton.jit
def tanh(x):
    """The hyperbolic tangent without overflow; keeps NaN."""
    small = tl.exp(-2.0 * tl.abs(x))
    positive = (1.0 - small) / (1.0 + small)
    return tl.where(x < 0, -positive, positive)


class Blocks(NamedTuple):
    """How a matrix is divided among programs: each takes some rows and goes through blocks of their columns."""

    rows: int  # per program
    columns: int  # per block; both are powers of two

    def programs(self, rows: int) -> tuple[int]:
        """Returns the grid of programs for that many rows."""
        return (triton.cdiv(rows, self.rows),)


def blocks(width: int) -> Blocks:
    """The blocks for rows of this width: whole rows if they fit, several if they are narrow."""
    columns = min(triton.next_power_of_2(width), NUMBERS)
    return Blocks(NUMBERS // columns, columns)


def accumulator(like: Tensor) -> tl.dtype:
    """The type in which a kernel computes for a tensor of this type."""
    return tl.float64 if like.dtype == torch.float64 else tl.float32


def accumulator_dtype(like: Tensor) -> torch.dtype:
    """The same as a PyTorch type, for sums over many launches."""
    return torch.float64 if like.dtype == torch.float64 else torch.float32


def is_compiled() -> bool:
    """Whether kernels run on a GPU; otherwise Triton's interpreter runs them, on any device's tensors."""
    return isinstance(tanh, triton.runtime.JITFunction)
