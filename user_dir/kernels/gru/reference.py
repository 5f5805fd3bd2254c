"""The gated recurrent unit as a loop, in the letters of Cho et al. (2014)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def gru(
    inputs: Tensor, initial: Tensor, gate_weight: Tensor, candidate_weight: Tensor, counts: Sequence[int]
) -> Tensor:
    """See :func:`user_dir.kernels.gru.gru`."""
    size = initial.size(1)
    U_rz, U = gate_weight, candidate_weight
    h = initial
    states = []
    for x in inputs.split(list(counts)):
        h = h[: x.size(0)]
        x_rz, x_candidate = x[:, : 2 * size], x[:, 2 * size :]
        r, z = torch.sigmoid(x_rz + h @ U_rz.t()).chunk(2, dim=1)
        candidate = torch.tanh(x_candidate + (r * h) @ U.t())
        h = z * h + (1 - z) * candidate
        states.append(h)
    return torch.cat(states)
