"""The weights of the gated recursive convolution."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class GRConvWeights(NamedTuple):
    """The weights that every node of every level shares; gates are ordered [new, left, right].

    Attributes:
        left: (H, H) W^l, from the left child to the candidate.
        right: (H, H) W^r, from the right child to the candidate.
        bias: (H,) b.
        gate_left: (3, H) G^l, from the left child to the gates.
        gate_right: (3, H) G^r, from the right child to the gates.
        gate_bias: (3,) b_G.
    """

    left: Tensor
    right: Tensor
    bias: Tensor
    gate_left: Tensor
    gate_right: Tensor
    gate_bias: Tensor
