"""Products of many rows with one weight, by the faster of the two libraries that PyTorch brings.

In float32, PyTorch multiplies by MKL, which uses AVX-512 on Intel's processors only; on others, it is half as fast as
oneDNN, which uses what the processor has. PyTorch itself multiplies by oneDNN in bfloat16.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .backend import resolve

FEWEST_ROWS = 64
"""With fewer rows, oneDNN spends too much time on arranging the weight."""


def linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None, *, backend: str = "packed") -> Tensor:
    """The products (…, M) of a weight (M, K) with rows (…, K), plus the bias (M,) if there is one.

    With the backend ``native``, or ``auto`` where that is built, the faster library multiplies; otherwise, PyTorch
    decides.
    """
    is_single = rows.dtype == weight.dtype == torch.float32 and rows.device.type == "cpu"
    is_long = rows.numel() >= FEWEST_ROWS * rows.size(-1) > 0 and not torch.is_autocast_enabled("cpu")
    if is_single and is_long and resolve(backend, weight) == "native" and mkl_is_slow():
        return _Linear.apply(rows, weight, bias)
    return F.linear(rows, weight, bias)


@functools.cache
def mkl_is_slow() -> bool:
    """Whether MKL leaves half of this processor unused, and oneDNN is there."""
    processor: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    is_half_used = bool(processor.get("avx512_f")) and "Intel" not in str(processor["cpu_name"])
    return is_half_used and torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()


def _multiply(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return _multiply(rows, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        needs_rows, needs_weight, needs_bias = ctx.needs_input_grad
        grad = grad.contiguous()
        columns = grad.flatten(0, -2)
        return (
            _multiply(grad, weight.t()) if needs_rows else None,
            _multiply(columns.t(), rows.flatten(0, -2).t()) if needs_weight else None,
            columns.sum(0) if needs_bias else None,
        )
