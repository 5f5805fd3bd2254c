"""Weights of low rank: a product of two narrow matrices instead of one matrix."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..kernels.matrix import Matrix


class LowRankMatrix(nn.Module):
    """A matrix (M, K) kept as ``left @ right``, with inner size R, or min(M, K) if that is smaller.

    Prabhavalkar et al. (2016), "On the Compression of Recurrent Neural Networks", take the truncated singular value
    decomposition of a trained matrix, its closest approximation of that rank. Kuchaiev & Ginsburg (2017),
    "Factorization Tricks for LSTM Networks", train the two factors from the start.

    Args:
        weight: (M, K) the matrix to approximate; a fresh one for a model trained from the start.
        rank: R.

    Attributes:
        left: (M, R) U √Σ of the decomposition U Σ Vᵀ.
        right: (R, K) √Σ Vᵀ.
    """

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        left, right = truncate(weight.detach(), rank)
        self.left = nn.Parameter(left)
        self.right = nn.Parameter(right)

    def matrix(self) -> Matrix:
        """The two factors as the kernels take them."""
        return Matrix(self.left, self.right)


def truncate(weight: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """The factors (M, R) and (R, K) whose product is closest to a matrix (M, K), scaled alike.

    Raises:
        ValueError: if the rank is not positive.
    """
    if rank < 1:
        raise ValueError(f"the rank of a product must be at least 1, not {rank}")
    left, values, right = torch.linalg.svd(weight, full_matrices=False)
    roots = values[:rank].sqrt()
    return (left[:, :rank] * roots).contiguous(), (roots[:, None] * right[:rank]).contiguous()


def kept_share(weight: Tensor, rank: int) -> float:
    """The share of a matrix's squared singular values that its approximation with this rank keeps: 1 if it is exact."""
    squares = torch.linalg.svdvals(weight).square()
    total = squares.sum()
    return float(squares[:rank].sum() / total) if total > 0 else 1.0


def weight_of_rank(weight: Tensor, rank: int) -> nn.Parameter | LowRankMatrix:
    """A trainable weight that starts as ``weight`` (M, K) for rank 0, or as its approximation."""
    return LowRankMatrix(weight, rank) if rank else nn.Parameter(weight)


def linear(rows: Tensor, weight: nn.Parameter | LowRankMatrix, bias: Tensor | None = None) -> Tensor:
    """The products (…, M) of a weight (M, K) with rows (…, K), plus the bias (M,) if there is one."""
    if isinstance(weight, LowRankMatrix):
        return F.linear(F.linear(rows, weight.right), weight.left, bias)
    return F.linear(rows, weight, bias)


def kernel_weight(weight: nn.Parameter | LowRankMatrix) -> Tensor | Matrix:
    """A weight as the kernels take it."""
    return weight.matrix() if isinstance(weight, LowRankMatrix) else weight
