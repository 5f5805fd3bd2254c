"""A weight matrix as the recurrences take it, products in its dtype, and how many rows at a time."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


def product(rows: Tensor, matrix: Tensor) -> Tensor:
    """``rows @ matrix``, computed and returned in the matrix's dtype."""
    return rows.to(matrix.dtype) @ matrix


def add_product(sums: Tensor, rows: Tensor, matrix: Tensor) -> Tensor:
    """``sums + rows @ matrix``: the product in the matrix's dtype, the sum in its own."""
    if sums.dtype == matrix.dtype:
        return torch.addmm(sums, rows, matrix)
    return sums + product(rows, matrix)


def add_product_(sums: Tensor, rows: Tensor, matrix: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Like :func:`add_product`, in place, ``alpha`` times the product."""
    if sums.dtype == matrix.dtype:
        return sums.addmm_(rows, matrix, alpha=alpha)
    return sums.add_(product(rows, matrix), alpha=alpha)


#: Half a megabyte of float32: together with its operands, it fits in a second-level cache.
NUMBERS = 1 << 17


def pieces(rows: int, numbers: int, like: Tensor) -> list[slice]:
    """Slices of rows, in order: the next operation finds in the cache what the last one wrote.

    Args:
        rows: how many there are.
        numbers: how many numbers an operation writes for each row.
        like: a tensor on the device that does the work; work is only cut on a CPU.
    """
    if like.device.type != "cpu":
        return [slice(0, rows)]
    return slices(rows, max(1, NUMBERS // max(1, numbers)))


def slices(rows: int, size: int) -> list[slice]:
    """Slices of the rows, ``size`` at a time."""
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


#: How many products with few rows it takes to make up for the cost of :func:`by_columns`.
STEPS_OF_A_COPY = 12


class Matrix(NamedTuple):
    """The matrix ``left``, or ``left @ right``, which is never multiplied out to be applied.

    A product of inner size R costs R · (M + K) multiplications per row instead of M · K. Products are computed in the
    matrix's dtype; sums and the rows' gradients have the dtype of their arguments, and the matrix's gradients
    have its own.
    """

    left: Tensor  # (M, K), or (M, R) for a product
    right: Tensor | None = None  # (R, K) for a product; None if the matrix is whole

    def to(self, dtype: torch.dtype) -> Matrix:
        return Matrix(self.left.to(dtype), None if self.right is None else self.right.to(dtype))

    def for_steps(self, steps: int) -> Matrix:
        """The same, stored to make :meth:`add_to` fastest on a CPU, if that many calls are worth a copy."""
        if steps < STEPS_OF_A_COPY or self.left.device.type != "cpu":
            return self
        return Matrix(by_columns(self.left), None if self.right is None else by_columns(self.right))

    def whole(self) -> Tensor:
        """Returns the matrix (M, K), with its factors multiplied out."""
        return self.left if self.right is None else self.left @ self.right

    def add_to(self, sums: Tensor, rows: Tensor) -> Tensor:
        """``sums`` (n, M) plus the matrix times each of ``rows`` (n, K)."""
        if self.right is not None:
            rows = product(rows, self.right.t())
        return add_product(sums, rows, self.left.t())

    def backward(self, grad: Tensor) -> Tensor:
        """The gradient (n, K) of rows whose products have the gradient (n, M)."""
        below = product(grad, self.left)
        return (below if self.right is None else below @ self.right).to(grad.dtype)

    def add_backward_(self, sums: Tensor, grad: Tensor) -> None:
        """Adds :meth:`backward` of ``grad`` (n, M) to ``sums`` (n, K), in place."""
        if self.right is None:
            add_product_(sums, grad, self.left)
        else:
            add_product_(sums, product(grad, self.left), self.right)

    def gradients(self, grad: Tensor, rows: Tensor) -> tuple[Tensor, Tensor | None]:
        """The gradients of ``left`` and ``right`` for the rows (N, K) whose products have the gradient (N, M)."""
        grad, rows = grad.to(self.left.dtype), rows.to(self.left.dtype)
        if self.right is None:
            return grad.t() @ rows, None
        return grad.t() @ (rows @ self.right.t()), (grad @ self.left).t() @ rows


def by_columns(weight: Tensor) -> Tensor:
    """A copy of a weight (…, M, K) with contiguous columns, for its products with many small parts.

    Otherwise, a library that multiplies few rows with it, ``rows @ weight.mT``, transposes it every time.
    """
    return weight.mT.contiguous().mT


def as_matrix(weight: Tensor | Matrix) -> Matrix:
    """A tensor as a whole matrix; a matrix unchanged."""
    return weight if isinstance(weight, Matrix) else Matrix(weight)


def check_shape(name: str, weight: Tensor | Matrix, shape: tuple[int, int]) -> Matrix:
    """The weight as a matrix, if it is of this shape (M, K).

    Raises:
        ValueError: naming the weight, if it is not, or if its two factors do not fit together.
    """
    matrix = as_matrix(weight)
    factors = [tuple(factor.shape) for factor in matrix if factor is not None]
    inner = factors[0][-1]
    fits = factors == [shape] if matrix.right is None else factors == [(shape[0], inner), (inner, shape[1])]
    if not fits:
        found = " times ".join(map(str, factors))
        raise ValueError(f"the {name} weight must be of shape {shape}, or a product of that shape, not {found}")
    return matrix
