"""The gated recursive convolution as a loop over sentences and levels, in the letters of Cho et al. (2014b)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .interface import GRConvOutput, GRConvWeights, Levels

PHI = {"tanh": torch.tanh, "relu": torch.relu}


def grconv(
    leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` as a loop."""
    phi, height = PHI[activation], levels.height
    positions = leaves.split(list(counts))
    summaries, gates, nodes = [], {}, {}
    for sentence in range(counts[0]):
        h = torch.stack([rows[sentence] for rows in positions if rows.size(0) > sentence])  # (n, H)
        root = h.size(0) - 1
        for level in range(1, (min(height, root) if height else root) + 1):
            h, w = merge(h[:-1], h[1:], weights, phi)
            for position in range(h.size(0)):
                gates[level, position, sentence] = w[position].detach()
                if level <= levels.annotation_height:
                    nodes[level, position, sentence] = h[position]
        summaries.append(h.mean(dim=0))  # one node, the root, unless the height is bounded
    return GRConvOutput(
        torch.stack(summaries),
        in_packed_order(gates, leaves.new_zeros(0, 3)),
        in_packed_order(nodes, leaves.new_zeros(0, leaves.size(1))),
    )


def merge(
    left: Tensor, right: Tensor, weights: GRConvWeights, phi: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """The nodes (n, H) of children (n, H), and their gates (n, 3)."""
    W_l, W_r, b, G_l, G_r, b_G = weights
    candidate = phi(left @ W_l.t() + right @ W_r.t() + b)
    w = torch.softmax(left @ G_l.t() + right @ G_r.t() + b_G, dim=1)
    return w[:, 0:1] * candidate + w[:, 1:2] * left + w[:, 2:3] * right, w


def in_packed_order(rows: Mapping[Any, Tensor], empty: Tensor) -> Tensor:
    """One under the other, by their level, position and sentence."""
    return torch.stack([rows[node] for node in sorted(rows)]) if rows else empty
