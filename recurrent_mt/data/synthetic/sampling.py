"""Random choices that are the same on every platform and Python version.

Only ``random.Random(int).random()`` is used, the one method whose sequence Python promises to keep, and
weights come from sums and divisions, which IEEE 754 rounds the same everywhere (a power would depend on the
C library).
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Rng:
    """A source of choices, seeded with a non-negative integer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Returns one of the items, all equally likely."""
        return items[int(self.random() * len(items))]


class Weighted(Generic[Item]):
    """Draws items with given weights: one non-negative number an item, not all zero."""

    def __init__(self, items: Sequence[Item], weights: Sequence[float]) -> None:
        self.items = list(items)
        self._cumulated = list(accumulate(weights))

    def draw(self, rng: Rng) -> Item:
        cumulated = self._cumulated
        return self.items[bisect_right(cumulated, rng.random() * cumulated[-1], 0, len(cumulated) - 1)]


def zipf(items: Sequence[Item]) -> Weighted[Item]:
    """Draws the item of rank r (from 1) with weight 1 / (r + 5): the Zipf–Mandelbrot law with exponent 1.

    The items come with the most frequent first.
    """
    return Weighted(items, [1 / (rank + 5) for rank in range(1, len(items) + 1)])
