"""A weight matrix as the recurrences take it: whole, or a product of two narrow ones."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Matrix(NamedTuple):
    """The matrix ``left``, or ``left @ right``, which is never multiplied out where it is applied.

    A product of inner size R costs R · (M + K) multiplications a row instead of M · K.

    Attributes:
        left: (M, K), or (M, R) of a product.
        right: (R, K) of a product; None if the matrix is whole.
    """

    left: Tensor
    right: Tensor | None = None

    def whole(self) -> Tensor:
        """The matrix (M, K), multiplied out."""
        return self.left if self.right is None else self.left @ self.right

    def add_to(self, sums: Tensor, rows: Tensor) -> Tensor:
        """``sums`` (n, M) plus the matrix times each of ``rows`` (n, K)."""
        if self.right is not None:
            rows = rows @ self.right.t()
        return torch.addmm(sums, rows, self.left.t())

    def backward(self, grad: Tensor) -> Tensor:
        """The gradient (n, K) of rows whose products have the gradient (n, M)."""
        grad = grad @ self.left
        return grad if self.right is None else grad @ self.right

    def add_backward_(self, sums: Tensor, grad: Tensor) -> None:
        """Adds :meth:`backward` of ``grad`` (n, M) to ``sums`` (n, K), in place."""
        if self.right is None:
            sums.addmm_(grad, self.left)
        else:
            sums.addmm_(grad @ self.left, self.right)

    def gradients(self, grad: Tensor, rows: Tensor) -> tuple[Tensor, Tensor | None]:
        """The gradients of ``left`` and ``right`` for the rows (N, K) whose products have the gradient (N, M)."""
        if self.right is None:
            return grad.t() @ rows, None
        return grad.t() @ (rows @ self.right.t()), (grad @ self.left).t() @ rows


def as_matrix(weight: Tensor | Matrix) -> Matrix:
    """A tensor as a whole matrix; a matrix as it is."""
    return weight if isinstance(weight, Matrix) else Matrix(weight)


def check_shape(name: str, weight: Tensor | Matrix, shape: tuple[int, int]) -> Matrix:
    """The weight as a matrix, if it is of this shape (M, K).

    Raises:
        ValueError: naming the weight, if it is not, or if its two factors do not fit each other.
    """
    matrix = as_matrix(weight)
    factors = [tuple(factor.shape) for factor in matrix if factor is not None]
    inner = factors[0][-1]
    fits = factors == [shape] if matrix.right is None else factors == [(shape[0], inner), (inner, shape[1])]
    if not fits:
        found = " times ".join(map(str, factors))
        raise ValueError(f"the {name} weight must be of shape {shape}, or a product of that shape, not {found}")
    return matrix
