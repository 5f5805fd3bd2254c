"""The gated recursive convolution of Cho et al. (2014b) over a packed batch."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import choose, resolve
from ..matrix import precision
from . import backends, reference
from .interface import GRConvOutput, GRConvWeights, Levels

__all__ = ["ACTIVATIONS", "BACKENDS", "GRConvOutput", "GRConvWeights", "grconv"]

ACTIVATIONS = tuple(reference.PHI)
BACKENDS = {
    "reference": reference.grconv,
    "packed": backends.packed_grconv,
    "native": backends.native_grconv,
    "fused": backends.fused_grconv,
}


def grconv(
    leaves: Tensor,
    weights: GRConvWeights,
    *,
    counts: Sequence[int],
    activation: str = "tanh",
    height: int = 0,
    annotation_height: int = 0,
    backend: str = "packed",
) -> GRConvOutput:
    """Merges neighbors, level by level, until one node per sentence is left or the height is reached.

    With l and r the children of a node on the level below::

        h̃ = φ(W^l l + W^r r + b)    [w_c w_l w_r] = softmax(G^l l + G^r r + b_G)    h = w_c h̃ + w_l l + w_r r

    Cho et al. (2014b), "On the Properties of Neural Machine Translation: Encoder–Decoder Approaches", section 2.2.
    The biases come from the released code. A sentence of n leaves has its root on level n − 1 and costs n(n − 1)/2
    nodes; a bounded height t costs fewer than t nodes per leaf.

    Args:
        leaves: (N, H) packed rows.
        weights: shared by all levels.
        counts: sentences running at each position, as in :class:`~recurrent_mt.kernels.packing.Packing`.
        activation: φ, one of :data:`ACTIVATIONS`.
        height: the last level that is computed; 0: up to the root.
        annotation_height: the last level whose nodes are returned; 0: none are.
        backend: ``native`` (C++, on a CPU), ``packed``, ``reference``, ``fused`` (Triton, on a GPU), or ``auto``, see
            :func:`recurrent_mt.kernels.backend.resolve`.

    Raises:
        ValueError: if shapes or heights do not fit together, or if activation or backend is unknown or cannot run here.
    """
    size = leaves.size(1)
    weights.check(size)
    if activation not in ACTIVATIONS:
        raise ValueError(f"grconv has no activation {activation!r}; it has: {', '.join(ACTIVATIONS)}")
    if leaves.size(0) != sum(counts):
        raise ValueError(f"{sum(counts)} leaves are expected, but there are {leaves.size(0)}")
    levels = Levels(height, annotation_height)
    levels.check()
    if not counts:
        nothing = leaves.new_zeros(0, size)
        return GRConvOutput(nothing, leaves.new_zeros(0, 3), nothing)
    backend = resolve(backend, weights.left)
    states, products, outside_autocast = precision(weights.left, backend)
    with outside_autocast:
        run = choose("grconv", backend, BACKENDS)
        return run(leaves.to(states), weights.to(products), counts, activation, levels)
