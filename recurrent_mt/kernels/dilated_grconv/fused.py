"""The dilated gated recursive convolution of ``packed``, with everything around matrix products in Triton."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import check_triton
from . import packed
from .interface import DilatedGRConvOutput, DilatedGRConvWeights


def dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, counts: Sequence[int], activation: str
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` with Triton kernels."""
    check_triton("dilated_grconv", leaves)
    from ..grconv.triton_level import FusedLevel

    return packed.dilated_grconv(leaves.contiguous(), weights, counts, activation, level=FusedLevel)
