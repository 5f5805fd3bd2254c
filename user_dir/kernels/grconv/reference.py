"""The gated recursive convolution as a loop over sentences and levels, in the letters of Cho et al. (2014b)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .weights import GRConvWeights

PHI = {"tanh": torch.tanh, "relu": torch.relu}


def grconv(leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str) -> tuple[Tensor, Tensor]:
    """See :func:`user_dir.kernels.grconv.grconv`."""
    W_l, W_r, b, G_l, G_r, b_G = weights
    phi = PHI[activation]
    positions = leaves.split(list(counts))
    roots, gates = [], {}
    for sentence in range(counts[0]):
        h = torch.stack([rows[sentence] for rows in positions if rows.size(0) > sentence])  # (n, H)
        for level in range(1, h.size(0)):
            left, right = h[:-1], h[1:]
            candidate = phi(left @ W_l.t() + right @ W_r.t() + b)
            w = torch.softmax(left @ G_l.t() + right @ G_r.t() + b_G, dim=1)  # (n - level, 3)
            h = w[:, 0:1] * candidate + w[:, 1:2] * left + w[:, 2:3] * right
            for position in range(h.size(0)):
                gates[level, position, sentence] = w[position].detach()
        roots.append(h[0])
    in_packed_order = [gates[node] for node in sorted(gates)]
    return torch.stack(roots), torch.stack(in_packed_order) if gates else leaves.new_zeros(0, 3)
