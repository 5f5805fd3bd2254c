"""The gated recursive convolution of ``packed``, with everything around each level's matrix products in Triton."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import check_triton
from . import packed
from .interface import GRConvOutput, GRConvWeights, Levels


def grconv(
    leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` with Triton kernels."""
    check_triton("grconv", leaves)
    from .triton_level import FusedLevel

    return packed.grconv(leaves.contiguous(), weights, counts, activation, levels, level=FusedLevel)
