"""Mixed precision: under ``torch.autocast``, matrix products are in its format and everything else is unchanged.

autocast works on single operations. Under it, a recurrence would round its states at every step, and in-place
operations would mix two formats. So the kernels turn it off and do what it is meant to do: their weights are narrowed
once per call, products are computed in the weights' format, and what they are added to, states, softmax, and sums keep
their own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor


class Precision(NamedTuple):
    """The formats of a kernel's numbers.

    Attributes:
        states: the format of everything that is not a product, which is the weights' own.
        products: the format of matrix products; different only under autocast.
        outside: a context in which autocast is off.
    """

    states: torch.dtype
    products: torch.dtype
    outside: AbstractContextManager[object]


def precision(weight: Tensor, backend: str) -> Precision:
    """What autocast asks of a kernel with this weight; nothing for the backend ``reference``, the ground truth."""
    device, own = weight.device.type, weight.dtype
    if not torch.is_autocast_enabled(device):
        return Precision(own, own, nullcontext())
    narrow = own if backend == "reference" else torch.get_autocast_dtype(device)
    return Precision(own, narrow, torch.autocast(device, enabled=False))


def product(rows: Tensor, matrix: Tensor) -> Tensor:
    """``rows @ matrix``, computed and returned in the matrix's format."""
    return rows.to(matrix.dtype) @ matrix


def add_product(sums: Tensor, rows: Tensor, matrix: Tensor) -> Tensor:
    """``sums + rows @ matrix``: the product in the matrix's format, the sum in its own."""
    if sums.dtype == matrix.dtype:
        return torch.addmm(sums, rows, matrix)
    return sums + product(rows, matrix)


def add_product_(sums: Tensor, rows: Tensor, matrix: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Like :func:`add_product`, in place, ``alpha`` times the product."""
    if sums.dtype == matrix.dtype:
        return sums.addmm_(rows, matrix, alpha=alpha)
    return sums.add_(product(rows, matrix), alpha=alpha)
