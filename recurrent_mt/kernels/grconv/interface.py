"""What the gated recursive convolution takes and returns."""

from __future__ import annotations

from typing import NamedTuple

import torch
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

    def to(self, number: torch.dtype) -> GRConvWeights:
        """The matrices in another number format; the biases are unchanged."""
        names = ("left", "right", "gate_left", "gate_right")
        return self._replace(**{name: getattr(self, name).to(number) for name in names})

    def check(self, size: int) -> None:
        """Rejects weights that do not fit nodes of that width.

        Raises:
            ValueError: naming the weight.
        """
        shapes = ((size, size), (size, size), (size,), (3, size), (3, size), (3,))
        for name, weight, shape in zip(self._fields, self, shapes):
            if weight.shape != shape:
                raise ValueError(
                    f"for nodes of width {size}, the weight {name!r} must be {shape}, not {tuple(weight.shape)}"
                )


class Levels(NamedTuple):
    """Which levels of the pyramid are computed and returned: the arguments of the same names."""

    height: int = 0
    annotation_height: int = 0

    def check(self) -> None:
        """Rejects levels that do not exist or contradict each other.

        Raises:
            ValueError: naming them.
        """
        height, annotation_height = self
        if min(height, annotation_height) < 0 or 0 < height < annotation_height:
            raise ValueError(f"nodes up to level {annotation_height} are requested from a pyramid of height {height}")


class GRConvOutput(NamedTuple):
    """The outputs for a packed batch.

    Nodes are stored level by level, and within a level packed like the leaves of sentences that are that much shorter.

    Attributes:
        summaries: (``counts[0]``, H) in packed order: the roots, or, if the height is bounded, the mean of a sentence's
            nodes on its highest level.
        gates: (nodes, 3) [new, left, right] of every node. They carry no gradient.
        nodes: (M, H) the nodes of levels 1 to ``annotation_height``.
    """

    summaries: Tensor
    gates: Tensor
    nodes: Tensor
