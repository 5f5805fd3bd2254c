"""What the dilated gated recursive convolution takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..grconv.interface import GRConvWeights


class DilatedGRConvWeights(NamedTuple):
    """Sets of weights, one for each of the lowest levels; every level above the last set's shares it.

    One set, L = 1, is shared by all levels, as in Cho et al. (2014b). Gates have the order of
    :class:`~recurrent_mt.kernels.grconv.GRConvWeights`.

    Attributes:
        left: (L, H, H) W^l, from the left child to the candidate.
        right: (L, H, H) W^r, from the right child to the candidate.
        bias: (L, H) b.
        gate_left: (L, 3, H) G^l, from the left child to the gates.
        gate_right: (L, 3, H) G^r, from the right child to the gates.
        gate_bias: (L, 3) b_G.
    """

    left: Tensor
    right: Tensor
    bias: Tensor
    gate_left: Tensor
    gate_right: Tensor
    gate_bias: Tensor

    def level(self, number: int) -> GRConvWeights:
        """The weights of one level, counted from 1."""
        return GRConvWeights(*(sets[own_set(number, sets.size(0))] for sets in self))

    def to(self, number: torch.dtype) -> DilatedGRConvWeights:
        """The matrices in another number format; the biases are unchanged."""
        names = ("left", "right", "gate_left", "gate_right")
        return self._replace(**{name: getattr(self, name).to(number) for name in names})

    def check(self, size: int) -> None:
        """Rejects weights that do not fit nodes of that width or each other.

        Raises:
            ValueError: naming the weight.
        """
        expected = max(1, self.left.size(0))
        for name, sets in zip(self._fields, self):
            if sets.size(0) != expected:
                raise ValueError(f"the weight {name!r} must have {expected} sets, not {sets.size(0)}")
        self.level(1).check(size)


def own_set(level: int, sets: int) -> int:
    """Which of so many sets of weights a level has, which is counted from 1."""
    return min(level, sets) - 1


def count_levels(counts: Sequence[int], height: int) -> int:
    """⌈log₂ n⌉ for the longest sentence of a batch, of n words, but at most the height, if that is not 0."""
    levels = (len(counts) - 1).bit_length() if counts else 0
    return min(levels, height) if height else levels


class DilatedGRConvOutput(NamedTuple):
    """The outputs for a packed batch.

    Attributes:
        nodes: (N, H) the highest node that ends at each word: it has merged all words up to there, or the last
            2^height.
        sums: (N, H) the sum of all nodes that end at each word, its leaf among them, each counted once.
        summaries: (``counts[0]``, H) in packed order: the highest node of each sentence's last word: its
            root, if the height allows one.
        gates: (M, 3) [new, left, right] of every node, level by level, and within a level packed like the words that
            have one: on level t, those with at least 2^(t−1) before them. They carry no gradient.
    """

    nodes: Tensor
    sums: Tensor
    summaries: Tensor
    gates: Tensor


def last_rows(counts: Sequence[int], device: torch.device) -> Tensor:
    """The packed row of each sentence's last word, in packed order."""
    ending = torch.tensor([*counts, 0])
    lengths = (ending[:-1, None] > torch.arange(counts[0])).sum(dim=0)
    before = ending.cumsum(0) - ending
    return (before[lengths - 1] + torch.arange(counts[0])).to(device)
