"""The pyramid of gates of one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .sentence import GatedSentence, read_levels


@dataclass(frozen=True)
class Pyramid(GatedSentence):
    """The gates of a sentence's nodes."""

    #: (n, n, 3): ``gates[i, k]`` is [new, left, right] of the node that covers the leaves i to k, i < k; the rest is
    #: zero. Left is the child over i to k − 1, right the child over i + 1 to k.
    gates: np.ndarray

    def shuffled(self, generator: np.random.Generator) -> Pyramid:
        """A pyramid with the gates of each level's nodes in random order."""
        gates = self.gates.copy()
        for height in range(1, len(self.leaves)):
            first = np.arange(len(self.leaves) - height)
            other = generator.permutation(first)
            gates[first, first + height] = self.gates[other, other + height]
        return Pyramid(self.number, self.leaves, gates)

    @classmethod
    def from_levels(cls, number: int, leaves: Sequence[str], levels: Sequence) -> Pyramid:
        """Makes a pyramid: ``levels[t - 1][j]`` is [new, left, right] of the node over the leaves j to j + t.

        Raises:
            ValueError: if there are not n − 1 levels of n − 1, n − 2, … 1 nodes of three gates that sum to 1.
        """
        n = len(leaves)
        gates = np.zeros((n, n, 3))
        for height, nodes in enumerate(read_levels(leaves, levels, range(n - 1, 0, -1)), start=1):
            first = np.arange(n - height)
            gates[first, first + height] = nodes
        return cls(number, tuple(leaves), gates)
