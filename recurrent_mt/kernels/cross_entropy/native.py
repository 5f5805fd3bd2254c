"""The output layer and its cross-entropy in C++: ``../native/cross_entropy.cpp``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..backend import check_native
from .packed import CrossEntropy


def cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """See :func:`recurrent_mt.kernels.cross_entropy.cross_entropy`."""
    check_native("cross_entropy", features)
    return CrossEntropy.apply(_compute, features, weight, bias, target, label_smoothing)


def _compute(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    needed: Sequence[bool],
) -> Any:
    bias = None if bias is None else bias.to(features.dtype)
    return torch.ops.recurrent_mt.cross_entropy(features, weight, bias, target, label_smoothing, *needed)
