"""The lowest scores whose words fill a number, found without sorting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

_HALF = 16
_LOW = np.uint32((1 << _HALF) - 1)

#: Starts a new pass over scores (N,) float32 and words (N,) of pairs, chunk by chunk, in order.
Chunks = Callable[[], Iterable[tuple[np.ndarray, np.ndarray]]]


@dataclass
class Cutoff:
    """Which pairs are taken: all of lower keys, and of the last key the earliest.

    Attributes:
        key: of the highest score that is taken (see :func:`order_keys`).
        left: words still wanted from pairs of that very score.
    """

    key: int
    left: int

    def take(self, scores: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Which of the next pairs are taken (N,) bool; to be called with all chunks, in order."""
        keys = order_keys(scores)
        taken = keys < self.key
        ties = np.flatnonzero(keys == self.key)
        before = np.cumsum(words[ties], dtype=np.int64) - words[ties]
        last = ties[before < self.left]
        taken[last] = True
        self.left -= int(words[last].sum())
        return taken


def find_cutoff(chunks: Chunks, wanted: int) -> Cutoff | None:
    """Two passes, one for each half of the scores' bits: memory does not depend on their number.

    Args:
        chunks: all pairs.
        wanted: words to fill; the pair that reaches them is taken.

    Returns:
        None where there are no more words than wanted.
    """
    by_high = np.zeros(1 << _HALF, np.int64)
    for scores, words in chunks():
        by_high += _histogram(order_keys(scores) >> _HALF, words)
    if by_high.sum() <= wanted:
        return None
    high, left = _reached(by_high, wanted)
    by_low = np.zeros(1 << _HALF, np.int64)
    for scores, words in chunks():
        keys = order_keys(scores)
        there = keys >> _HALF == high
        by_low += _histogram(keys[there] & _LOW, words[there])
    low, left = _reached(by_low, left)
    return Cutoff(high << _HALF | low, left)


def order_keys(scores: np.ndarray) -> np.ndarray:
    """Unsigned integers in the order of float32 scores (N,)."""
    # Adding 0 makes -0 the same as 0.
    bits = (scores.astype(np.float32) + np.float32(0)).view(np.uint32)
    return bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))


def _histogram(bins: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Sums of words; as floats they are exact to 2⁵³."""
    return np.bincount(bins, words, 1 << _HALF).astype(np.int64)


def _reached(histogram: np.ndarray, wanted: int) -> tuple[int, int]:
    """The bin with which so many words are reached, and how many of them are wanted of it."""
    sums = np.cumsum(histogram)
    found = int(np.searchsorted(sums, wanted))
    return found, wanted - int(sums[found] - histogram[found])
