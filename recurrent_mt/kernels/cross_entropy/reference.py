"""The output layer and its cross-entropy, in the words of a textbook."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy(features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> Tensor:
    """See :func:`recurrent_mt.kernels.cross_entropy.cross_entropy`."""
    scores = features @ weight.t()
    if bias is not None:
        scores = scores + bias
    return -torch.log_softmax(scores, dim=1).gather(1, target.unsqueeze(1)).sum()
