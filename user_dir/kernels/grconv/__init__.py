"""The gated recursive convolution of Cho et al. (2014b) over a packed batch."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import choose
from . import packed, reference
from .weights import GRConvWeights

__all__ = ["ACTIVATIONS", "BACKENDS", "GRConvWeights", "grconv"]

ACTIVATIONS = tuple(reference.PHI)
BACKENDS = {"reference": reference.grconv, "packed": packed.grconv}


def grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    *,
    counts: Sequence[int],
    activation: str = "tanh",
    backend: str = "packed",
) -> tuple[Tensor, Tensor]:
    """Merges neighbours, level by level, until one node a sentence is left.

    With l and r the children of a node on the level below::

        h̃ = φ(W^l l + W^r r + b)    [w_c w_l w_r] = softmax(G^l l + G^r r + b_G)    h = w_c h̃ + w_l l + w_r r

    Cho et al. (2014b), "On the Properties of Neural Machine Translation: Encoder–Decoder Approaches", section 2.2.
    The three gates are scalars a node; the biases are the released code's. A sentence of n leaves has its root on
    level n − 1 and costs n(n − 1)/2 nodes.

    Args:
        leaves: (N, H) packed rows.
        weights: shared by all levels.
        counts: sentences running at each position, as in :class:`~user_dir.kernels.packing.Packing`.
        activation: φ, one of :data:`ACTIVATIONS`.
        backend: ``packed`` or ``reference``.

    Returns:
        The roots (``counts[0]``, H) in packed order, and the gates [new, left, right] of every node (nodes, 3): level
        by level, within a level packed like the leaves of sentences that much shorter. The gates carry no gradient.

    Raises:
        ValueError: if the shapes do not fit together, or the activation or the backend is unknown.
    """
    size = leaves.size(1)
    expected = GRConvWeights((size, size), (size, size), (size,), (3, size), (3, size), (3,))
    for name, weight, shape in zip(GRConvWeights._fields, weights, expected):
        if weight.shape != shape:
            raise ValueError(f"nodes of width {size} need the weight {name!r} to be {shape}, not {tuple(weight.shape)}")
    if activation not in ACTIVATIONS:
        raise ValueError(f"grconv has no activation {activation!r}; it has: {', '.join(ACTIVATIONS)}")
    if leaves.size(0) != sum(counts):
        raise ValueError(f"{sum(counts)} leaves are planned, but there are {leaves.size(0)}")
    if not counts:
        return leaves.new_zeros(0, size), leaves.new_zeros(0, 3)
    return choose("grconv", backend, BACKENDS)(leaves, weights, counts, activation)
