"""The output layer and its cross-entropy, in the words of a textbook."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.cross_entropy.cross_entropy` as a loop over the equations."""
    scores = features @ weight.t()
    if bias is not None:
        scores = scores + bias
    log_probabilities = torch.log_softmax(scores, dim=1)
    total = loss = -log_probabilities.gather(1, target.unsqueeze(1)).sum()
    if label_smoothing:
        others = label_smoothing / (weight.size(0) - 1)
        loss = (1 - label_smoothing - others) * total - others * log_probabilities.sum()
    return loss, total.detach()
