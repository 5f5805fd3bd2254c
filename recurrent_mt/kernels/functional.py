"""Linear layers and dropout in C++, ``native/linear.cpp`` and ``native/dropout.cpp``, wherever a model has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from .backend import check_native, resolve
from .matrix import precision

__all__ = ["native_functions"]

FEWEST_ROWS = 64
"""Each call copies the weight: with one of 512 × 1,024, 16 rows take 1.1 times as long as PyTorch, 64 rows 0.6."""


def native_functions(backend: str, like: Tensor) -> AbstractContextManager[object]:
    """A context in which torch's ``linear`` and ``dropout``, and so ``torch.nn.Linear``, run on a backend.

    A model has many small layers around its recurrences. PyTorch's products in float32 use what the processor has only
    on some, and those in bfloat16 keep compiled code for every shape of a batch, a gigabyte after some hundred updates.
    Its dropout draws one random number at a time, on one thread.

    Args:
        backend: ``native`` (C++, for float32 on a CPU, with products in bfloat16 under its autocast), any other of the
            kernels' backends, all of which leave both as they are, or ``auto``, see
            :func:`recurrent_mt.kernels.backend.resolve`.
        like: a tensor with the format and the device of what enters the layers.

    Raises:
        ValueError: if the backend is ``native`` and cannot run here.
    """
    if like.dtype != torch.float32 or resolve(backend, like) != "native":
        return nullcontext()
    check_native("linear", like)
    return _NativeFunctions()


class _NativeFunctions(TorchFunctionMode):
    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        arguments: Sequence[Any] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        options = options or {}
        if function is F.linear and not options and arguments[0].numel() >= FEWEST_ROWS * arguments[0].size(-1):
            rows, weight, *bias = arguments
            states, products, outside_autocast = precision(weight, "native")
            with outside_autocast:
                made = _Linear.apply(rows.flatten(0, -2).to(states), weight, *bias or [None], products)
            return made.unflatten(0, rows.shape[:-1])
        if function is F.dropout and arguments[0].dtype == torch.float32:
            draws = options["training"] and 0 < options["p"] < 1
            if draws and not options["inplace"]:
                return _Dropout.apply(arguments[0], options["p"])
        return function(*arguments, **options)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None, products: torch.dtype) -> Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.products = products
        return torch.ops.recurrent_mt.linear(rows, weight, bias, products)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad[:3]
        return *torch.ops.recurrent_mt.linear_backward(grad, *ctx.saved_tensors, ctx.products, *needed), None


class _Dropout(torch.autograd.Function):
    """The mask is computed from a key, which torch's generator draws, and once more for the gradient."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, probability: float) -> Tensor:
        ctx.probability, ctx.key = probability, int(torch.empty((), dtype=torch.int64).random_())
        return torch.ops.recurrent_mt.dropout(values, probability, ctx.key)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return torch.ops.recurrent_mt.dropout(grad, ctx.probability, ctx.key), None
