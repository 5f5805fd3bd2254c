"""Starting values of weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def orthogonal_blocks_(weight: Tensor) -> Tensor:
    """Fills each square block of a (k·H, H) weight with its own orthogonal matrix, in place.

    An orthogonal recurrent matrix keeps the length of what it carries back through time (Saxe et al., 2014).
    """
    size = weight.size(1)
    with torch.no_grad():
        for block in weight.split(size):
            nn.init.orthogonal_(block)
    return weight


def xavier_blocks_(weight: Tensor, rows: int) -> Tensor:
    """Fills each block of ``rows`` rows by Glorot & Bengio (2010), as if it were a separate matrix, in place.

    Gates stacked in one weight must not count as one wide output.
    """
    with torch.no_grad():
        for block in weight.split(rows):
            nn.init.xavier_uniform_(block)
    return weight
