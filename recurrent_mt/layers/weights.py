"""How the weights of layers start, embeddings with a bias, and products of low rank in place of a matrix."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..kernels.linear import linear
from ..kernels.matrix import Matrix, as_matrix
from .linear import Linear


def orthogonal_blocks_(weight: Tensor) -> Tensor:
    """Fills each square block of a (k·H, H) weight with its own orthogonal matrix, in place.

    An orthogonal recurrent matrix keeps the length of what it carries back through time (Saxe et al., 2014).
    """
    size = weight.size(1)
    with torch.no_grad():
        for block in weight.split(size):
            nn.init.orthogonal_(block)
    return weight


def xavier_blocks_(weight: Tensor, rows: int) -> Tensor:
    """Fills each block of ``rows`` rows by Glorot & Bengio (2010), as if it were a separate matrix, in place.

    Gates stacked in one weight must not count as one wide output.
    """
    with torch.no_grad():
        for block in weight.split(rows):
            nn.init.xavier_uniform_(block)
    return weight


def projection(input_size: int, output_size: int, *, bias: bool = True) -> Linear:
    """A linear layer that starts from Glorot & Bengio (2010), eq. (16), with a bias of zero."""
    layer = Linear(input_size, output_size, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class BiasedEmbedding(nn.Embedding):
    """An embedding to which one learned vector is added, the same for every word.

    The authors' released code embeds words with a linear layer on one-hot vectors, which has a bias.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx=padding_idx)
        self.bias = nn.Parameter(torch.zeros(embedding_dim))

    def forward(self, tokens: Tensor) -> Tensor:
        """Embeds: (…) → (…, E)."""
        return super().forward(tokens) + self.bias


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


def truncate(weight: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """The factors (M, R) and (R, K) whose product is closest to a matrix (M, K), scaled alike."""
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


def multiply(rows: Tensor, weight: nn.Parameter | LowRankMatrix, bias: Tensor | None = None) -> Tensor:
    """The products (…, M) of a weight (M, K) with rows (…, K), plus the bias (M,) if there is one."""
    if isinstance(weight, LowRankMatrix):
        return linear(linear(rows, weight.right), weight.left, bias)
    return linear(rows, weight, bias)


def kernel_weight(weight: nn.Parameter | LowRankMatrix) -> Tensor | Matrix:
    """A weight as the kernels take it."""
    return Matrix(weight.left, weight.right) if isinstance(weight, LowRankMatrix) else weight


def whole_matrix(weight: nn.Parameter | LowRankMatrix) -> Tensor:
    """The weight's numbers (M, K), multiplied out if it is a product; they carry no gradient."""
    return as_matrix(kernel_weight(weight)).whole().detach()
