"""The gated recurrent unit as a loop, in the letters of Cho et al. (2014)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..matrix import Matrix


def gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` as a loop over the equations."""
    U_rz, U = gate.whole(), candidate.whole()
    size, h, states = U.size(0), initial, []
    for x in inputs.split(list(counts)):
        h = h[: x.size(0)]
        x_rz, x_candidate = x[:, : 2 * size], x[:, 2 * size :]
        r, z = torch.sigmoid(x_rz + h @ U_rz.t()).chunk(2, dim=1)
        h_candidate = torch.tanh(x_candidate + (r * h) @ U.t())
        h = z * h + (1 - z) * h_candidate
        states.append(h)
    return torch.cat(states)
