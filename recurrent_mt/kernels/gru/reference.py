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
    time_gate: Tensor | None,
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` as a loop over the equations."""
    U_rz, U, g = gate.whole(), candidate.whole(), time_gate
    size = U.size(0)
    h = [initial] if g is None else list(initial.unbind(1))
    K = len(h)
    for x in inputs.split(list(counts)):
        n = x.size(0)
        p = h[-1][:n] if g is None else g * h[-1][:n] + (1 - g) * h[-K][:n]
        x_rz, x_candidate = x[:, : 2 * size], x[:, 2 * size :]
        r, z = torch.sigmoid(x_rz + p @ U_rz.t()).chunk(2, dim=1)
        h_candidate = torch.tanh(x_candidate + (r * p) @ U.t())
        h.append(z * p + (1 - z) * h_candidate)
    return torch.cat(h[K:])
