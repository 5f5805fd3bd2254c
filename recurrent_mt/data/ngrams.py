"""An n-gram model of numbered words, in arrays.

Interpolated Kneser–Ney (Kneser and Ney 1995; the formulation of Chen and Goodman 1999, equation 17, with one discount
for each order). Training and scoring pass a million words a second, without a loop over them; nltk's model scores some
hundred words a second, and kenlm's package has no trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

UNKNOWN, START, END = 0, 1, 2
#: Numbers of words begin there.
FIRST_WORD = 3


class _Level(NamedTuple):
    """The n-grams of one length, by number.

    An n-gram's number is the place of its key, which is the number of its context (all but the last word) times the
    size of the vocabulary, plus its last word; for single words it is the word.
    """

    keys: np.ndarray  # (N,) int64, sorted
    discounted: np.ndarray  # (N,) what an n-gram's own count gives to its probability
    backoff: np.ndarray  # (number of contexts,) the weight of the next shorter context; 1 where nothing follows


class NgramModel:
    """Probabilities of words given the words before them.

    Args:
        sentences: numbers of words, from :data:`FIRST_WORD`, or :data:`UNKNOWN`.
        vocabulary_size: all numbers are smaller.
        order: words of the longest n-gram.
        discount: the same for all orders, or by default n₁ / (n₁ + 2 n₂), estimated for each (Ney et al. 1994).
    """

    def __init__(
        self, sentences: Sequence[Sequence[int]], vocabulary_size: int, *, order: int = 3, discount: float | None = None
    ) -> None:
        self.order = order
        self._size = vocabulary_size
        words, positions = self._flat(sentences)
        # The number of the n-gram that ends at each word; of single words first.
        numbers, levels = [words], []
        for length in range(2, order + 1):
            keys = self._keys(numbers[-1], words)
            keys[positions < length - 1] = -1
            unique, places = np.unique(keys, return_inverse=True)
            borders = int(unique[0] == -1)
            levels.append(unique[borders:])
            numbers.append(places - borders)
        keys_of = [np.arange(vocabulary_size, dtype=np.int64), *levels]
        contexts = [1, *map(len, keys_of)]
        counts = self._counts(keys_of, numbers, words)
        self._levels = [self._level(*level, discount) for level in zip(keys_of, counts, contexts)]

    def log_probabilities(self, sentences: Sequence[Sequence[int]]) -> np.ndarray:
        """Base-2 logarithms of the probabilities of whole sentences, their ends included (sentences,)."""
        words, positions = self._flat(sentences)
        probability = np.full(len(words), 1.0 / (self._size - 1))
        numbers = words
        for length, level in enumerate(self._levels, start=1):
            if length == 1:
                probability = level.discounted[words] + level.backoff[0] * probability
                continue
            context = np.roll(numbers, 1)
            keys = self._keys(numbers, words)
            places = np.minimum(np.searchsorted(level.keys, keys), len(level.keys) - 1)
            found = np.where(level.keys[places] == keys, places, -1)
            known = (context >= 0) & (positions >= length - 1)
            weight = np.where(known, level.backoff[context], 1.0)
            own = np.where(known & (found >= 0), level.discounted[found], 0.0)
            probability = own + weight * probability
            numbers = np.where(known, found, -1)
        logarithms = np.log2(probability)
        logarithms[words == START] = 0.0
        return np.add.reduceat(logarithms, np.flatnonzero(positions == 0))

    @property
    def _padding(self) -> int:
        return max(self.order - 1, 1)

    def _flat(self, sentences: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        """All words between their starts and ends, and the position of each in its padded sentence."""
        start, end = [START] * self._padding, [END]
        padded = chain.from_iterable(chain(start, sentence, end) for sentence in sentences)
        words = np.fromiter(padded, np.int64)
        lengths = np.array([len(sentence) for sentence in sentences]) + self._padding + 1
        positions = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return words, positions

    def _keys(self, numbers: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Keys of n-grams one word longer than those numbered."""
        return np.roll(numbers, 1) * self._size + words

    def _counts(self, keys: list[np.ndarray], numbers: list[np.ndarray], words: np.ndarray) -> list[np.ndarray]:
        """How often the longest n-grams occur; after how many different words the shorter ones do."""
        counts = []
        for level in range(self.order):
            valid = (numbers[level] >= 0) & (words != START)
            if level + 1 < self.order:
                longer = np.where(valid, numbers[level + 1], -1)
                unique, first = np.unique(longer, return_index=True)
                valid = first[unique >= 0]
            counts.append(np.bincount(numbers[level][valid], minlength=len(keys[level])).astype(float))
        return counts

    def _level(self, keys: np.ndarray, counts: np.ndarray, contexts: int, discount: float | None) -> _Level:
        once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
        if discount is None:
            discount = once / (once + 2 * twice) if once and twice else 0.5
        context = keys // self._size  # 0, the empty one, for single words
        totals = np.bincount(context, counts, contexts)
        types = np.bincount(context, counts > 0, contexts)
        backoff = np.divide(discount * types, totals, out=np.ones(len(totals)), where=totals > 0)
        own = np.maximum(counts - discount, 0.0)
        return _Level(keys, np.divide(own, totals[context], out=np.zeros(len(own)), where=own > 0), backoff)
