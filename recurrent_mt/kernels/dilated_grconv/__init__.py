"""The dilated gated recursive convolution over a packed batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from ..backend import choose, resolve
from ..matrix import precision
from . import backends, reference
from .interface import DilatedGRConvOutput, DilatedGRConvWeights, count_levels

__all__ = ["BACKENDS", "DilatedGRConvOutput", "DilatedGRConvWeights", "count_levels", "dilated_grconv"]

BACKENDS: dict[str, Callable[..., DilatedGRConvOutput]] = {
    "reference": reference.dilated_grconv,
    "packed": backends.packed_dilated_grconv,
    "native": backends.native_dilated_grconv,
    "fused": backends.fused_dilated_grconv,
}


def dilated_grconv(
    leaves: Tensor,
    weights: DilatedGRConvWeights,
    *,
    counts: Sequence[int],
    height: int = 0,
    backend: str = "packed",
) -> DilatedGRConvOutput:
    """Merges spans that end at the same word with those before them, level by level, until all words are merged.

    On level t, from 1 to ⌈log₂ n⌉, the node at word j joins l, the node at word j − 2^(t−1) of the level below, with r,
    the one at j::

        h̃ = tanh(W^l l + W^r r + b)    [w_c w_l w_r] = softmax(G^l l + G^r r + b_G)    h = w_c h̃ + w_l l + w_r r

    A node whose left child would be before the sentence stays what it is. So spans double and never overlap, a word
    passes ⌈log₂ n⌉ merges at most, and the highest node at word j has merged words 0 to j, each once. The merge is that
    of Cho et al. (2014b), see :func:`recurrent_mt.kernels.grconv.grconv`; the distances are those of the dilated
    convolutions of ByteNet (Kalchbrenner et al. 2016, "Neural Machine Translation in Linear Time"). To put the two
    together, and to let levels have weights of their own, is this project's own. A sentence of n words costs fewer than
    n ⌈log₂ n⌉ nodes.

    Args:
        leaves: (N, H) packed rows.
        weights: of all levels.
        counts: sentences running at each position, as in :class:`~recurrent_mt.kernels.packing.Packing`.
        height: K, the last level, so that the highest node at word j has merged the last 2^K words up to it, for a cost
            of K nodes a word at most; 0: the level that has merged all words.
        backend: ``native`` (C++, on a CPU), ``packed``, ``reference``, ``fused`` (Triton, on a GPU), or ``auto``, see
            :func:`recurrent_mt.kernels.backend.resolve`.

    Raises:
        ValueError: if shapes do not fit together, if the height is negative, or if the backend is unknown or cannot run
            here.
    """
    weights.check(leaves.size(1))
    if height < 0:
        raise ValueError(f"the height of a dilated_grconv must be 0 (all words merged) or more, not {height}")
    if leaves.size(0) != sum(counts):
        raise ValueError(f"{sum(counts)} leaves are expected, but there are {leaves.size(0)}")
    if not counts:
        nothing = leaves.new_zeros(0, leaves.size(1))
        return DilatedGRConvOutput(nothing, nothing, nothing, leaves.new_zeros(0, 3))
    backend = resolve(backend, weights.left)
    states, products, outside_autocast = precision(weights.left, backend)
    with outside_autocast:
        leaves = leaves.to(states)
        if backend == "native":  # narrows weights while it copies them
            return backends.native_dilated_grconv(leaves, weights, counts, height, products=products)
        run = choose("dilated_grconv", backend, BACKENDS)
        return run(leaves, weights.to(products), counts, height)
