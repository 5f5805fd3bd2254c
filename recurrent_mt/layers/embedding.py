"""Word embeddings with a bias."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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
