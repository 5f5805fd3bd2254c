"""The soft alignment of one sentence pair: how much each target token attends to each source token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..subwords import END_OF_SENTENCE, merge_pieces, word_numbers

#: How far a target token's weights may be from 1 together, for each source token: printed weights are rounded.
ROUNDING = 1e-5


@dataclass(frozen=True)
class SoftAlignment:
    """A sentence pair with its weights.

    Attributes:
        number: of the sentence, from 0.
        source: tokens, ``</s>`` included where the model has read one.
        target: likewise.
        weights: (T, S), each row a distribution over the source.
    """

    number: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: np.ndarray

    def __post_init__(self) -> None:
        """Checks shape and weights.

        Raises:
            ValueError: if they are not one distribution over the source for each target token.
        """
        if not all(isinstance(token, str) for token in (*self.source, *self.target)):
            raise ValueError("source and target are no tokens")
        shape = (len(self.target), len(self.source))
        if self.weights.shape != shape:
            raise ValueError(
                f"{shape[0]} target and {shape[1]} source tokens, but weights of shape {self.weights.shape}"
            )
        sums = self.weights.sum(axis=1)
        wrong = (np.abs(sums - 1) > 1e-4 + ROUNDING * shape[1]) | np.any(self.weights < 0, axis=1) | np.isnan(sums)
        if np.any(wrong):
            row = int(np.argmax(wrong))
            raise ValueError(f"the weights of target token {row} ({self.target[row]!r}) are no distribution")

    @property
    def source_words(self) -> int:
        """How many source tokens come before ``</s>``."""
        return len(self.source) - (self.source[-1:] == (END_OF_SENTENCE,))

    @property
    def target_words(self) -> int:
        """How many target tokens come before ``</s>``."""
        return len(self.target) - (self.target[-1:] == (END_OF_SENTENCE,))

    def merged(self, segmentation: str | None) -> SoftAlignment:
        """The alignment of words: summed over the pieces of a source word, averaged over those of a target word.

        Each row stays a distribution.

        Args:
            segmentation: ``bpe``, ``sentencepiece``, or None to change nothing.
        """
        if segmentation is None:
            return self
        source, target = word_numbers(self.source, segmentation), word_numbers(self.target, segmentation)
        from_pieces = membership(source)  # (S words, S pieces)
        to_words = membership(target)  # (T words, T pieces)
        to_words = to_words / np.maximum(to_words.sum(axis=1, keepdims=True), 1)
        return SoftAlignment(
            self.number,
            tuple(merge_pieces(self.source, source, segmentation)),
            tuple(merge_pieces(self.target, target, segmentation)),
            to_words @ self.weights @ from_pieces.T,
        )


def membership(numbers: Sequence[int]) -> np.ndarray:
    """(words, pieces): 1 where a piece belongs to a word, whose numbers are given for each piece."""
    words = np.arange(numbers[-1] + 1 if numbers else 0)
    return (words[:, None] == np.array(numbers, dtype=int)[None, :]).astype(float)
