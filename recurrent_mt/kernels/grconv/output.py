"""What the gated recursive convolution gives."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class GRConvOutput(NamedTuple):
    """The outputs for a packed batch.

    Nodes stand level by level, and within a level packed like the leaves of sentences that much shorter.

    Attributes:
        summaries: (``counts[0]``, H) in packed order: the roots; where the height is bounded, the mean of a sentence's
            nodes on the highest level that it has.
        gates: (nodes, 3) [new, left, right] of every node, their means over the units where each unit has its own. They
            carry no gradient.
        nodes: (M, H) the nodes of the levels 1 to ``annotation_height``.
    """

    summaries: Tensor
    gates: Tensor
    nodes: Tensor
