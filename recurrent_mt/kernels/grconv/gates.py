"""The gates of a node: three numbers that sum to one, or three vectors with one such number per unit."""

from __future__ import annotations

import torch
from torch import Tensor


def open_gates(logits: Tensor) -> Tensor:
    """The softmax over [new, left, right]: logits (n, 3) → (n, 3, 1), or logits (n, 3H) → (n, 3, H)."""
    if logits.size(1) == 3:
        # A softmax over the last dimension is faster.
        return torch.softmax(logits, dim=1).unsqueeze(2)
    return torch.softmax(logits.unflatten(1, (3, -1)), dim=1)


def mean_gates(gates: Tensor) -> Tensor:
    """The gates of a whole node: their means over its units, (n, 3)."""
    return gates.squeeze(2) if gates.size(2) == 1 else gates.mean(dim=2)


def gates_gradient(grad: Tensor, gates: Tensor, candidate: Tensor, left_nodes: Tensor, right_nodes: Tensor) -> Tensor:
    """The gradient with respect to the logits: (n, 3) or (n, 3H).

    Args:
        grad: (n, H) with respect to the nodes.
        gates: as returned by :func:`open_gates`.
        candidate: (n, H) what the first gate lets in.
        left_nodes: (n, H) what the second lets in.
        right_nodes: (n, H) what the third lets in.
    """
    values = (candidate, left_nodes, right_nodes)
    if gates.size(2) == 1:
        gates = gates.squeeze(2)
        grad_gates = torch.stack([(grad * value).sum(dim=1) for value in values], dim=1)
    else:
        grad_gates = torch.stack([grad * value for value in values], dim=1)
    return (gates * (grad_gates - (gates * grad_gates).sum(dim=1, keepdim=True))).flatten(1)
