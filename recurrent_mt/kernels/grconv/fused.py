"""The gated recursive convolution of ``packed``, with everything around each level's matrix products in Triton."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import check_triton
from . import packed
from .output import GRConvOutput
from .weights import GRConvWeights


def grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    counts: Sequence[int],
    activation: str,
    *,
    height: int = 0,
    annotation_height: int = 0,
    checkpoint_levels: int = 0,
) -> GRConvOutput:
    """See :func:`recurrent_mt.kernels.grconv.grconv`."""
    check_triton("grconv", leaves)
    from .triton_level import FusedLevel

    return packed.grconv(
        leaves.contiguous(),
        weights,
        counts,
        activation,
        height=height,
        annotation_height=annotation_height,
        checkpoint_levels=checkpoint_levels,
        level=FusedLevel,
    )
