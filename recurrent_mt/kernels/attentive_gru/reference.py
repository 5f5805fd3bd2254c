"""A GRU that reads a context at every step, as a loop in the letters of Bahdanau et al. (2015), A.1.2 and A.2.2."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .interface import AttentiveGRUWeights, Memory


def attend(state: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor, Tensor]:
    """The context c_i (n, D) and the weights α_i (n, S) for the state s_{i−1} (n, H)."""
    h, annotations, padding_mask = memory.rows(state.size(0))
    if weights.query is None or weights.score is None:
        e = (h * state.unsqueeze(1)).sum(dim=2)
    else:
        W_a, v_a = weights.query, weights.score
        e = torch.tanh((state @ W_a.t()).unsqueeze(1) + h) @ v_a
    alpha = torch.softmax(e.masked_fill(padding_mask, torch.finfo(e.dtype).min), dim=1)
    return (alpha.unsqueeze(2) * annotations).sum(dim=1), alpha


def attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` as a loop over the equations."""
    U_rz, U, C = (matrix.whole() for matrix in weights.matrices())
    size, s = U.size(0), initial
    states, contexts, alphas = [], [], []
    for x in inputs.split(list(counts)):
        s = s[: x.size(0)]
        c, alpha = attend(s, memory, weights)
        x = x + c @ C.t()
        r, z = torch.sigmoid(x[:, : 2 * size] + s @ U_rz.t()).chunk(2, dim=1)
        candidate = torch.tanh(x[:, 2 * size :] + (r * s) @ U.t())
        s = z * s + (1 - z) * candidate
        states.append(s)
        contexts.append(c)
        alphas.append(alpha)
    return torch.cat(states), torch.cat(contexts), torch.cat(alphas).detach()
