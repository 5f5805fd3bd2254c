"""The dilated gated recursive convolution of ``packed``, with each level in C++: ``../native/grconv.cpp``."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import check_native
from ..grconv.native import NativeLevel
from . import packed
from .interface import DilatedGRConvOutput, DilatedGRConvWeights


def dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, counts: Sequence[int], activation: str
) -> DilatedGRConvOutput:
    """See :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv`."""
    check_native("dilated_grconv", leaves)
    return packed.dilated_grconv(leaves.contiguous(), weights, counts, activation, level=NativeLevel)
