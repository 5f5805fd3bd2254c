"""What the gated recursive convolution returns."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class GRConvOutput(NamedTuple):
    """The outputs for a packed batch.

    Nodes are stored level by level, and within a level packed like the leaves of sentences that are that much shorter.

    Attributes:
        summaries: (``counts[0]``, H) in packed order: the roots, or, if the height is bounded, the mean of a sentence's
            nodes on its highest level.
        gates: (nodes, 3) [new, left, right] of every node; if each unit has its own, their means over the units. They
            carry no gradient.
        nodes: (M, H) the nodes of levels 1 to ``annotation_height``.
    """

    summaries: Tensor
    gates: Tensor
    nodes: Tensor
