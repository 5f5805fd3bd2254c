"""What the gates of all grConvs share: the leaves of a sentence, and levels of nodes with three gates each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..subwords import END_OF_SENTENCE, merge_pieces, word_numbers

#: How far a node's three gates may be from 1 together: each is rounded to five decimals.
ROUNDING = 1e-4


@dataclass(frozen=True)
class GatedSentence:
    """A sentence whose nodes have gates."""

    number: int  # of the sentence in its file, from 0
    leaves: tuple[str, ...]  # the encoder's tokens, ``</s>`` included where it has read one

    @property
    def has_end(self) -> bool:
        """Whether the last leaf is ``</s>``, which belongs to no tree."""
        return bool(self.leaves) and self.leaves[-1] == END_OF_SENTENCE

    @property
    def words(self) -> tuple[str, ...]:
        """The leaves without ``</s>``."""
        return self.leaves[:-1] if self.has_end else self.leaves

    def merged_words(self, segmentation: str | None) -> list[str]:
        """The words, where leaves are pieces of words, see :mod:`recurrent_mt.evaluation.subwords`."""
        return merge_pieces(self.words, word_numbers(self.words, segmentation), segmentation)


def read_levels(leaves: Sequence[str], levels: Sequence, counts: Sequence[int]) -> list[np.ndarray]:
    """The [new, left, right] of each level's nodes, (nodes, 3), checked.

    Args:
        leaves: tokens.
        levels: from a file.
        counts: how many nodes each level must have.

    Raises:
        ValueError: if the leaves are no tokens, there are not as many levels and nodes, or the three gates of a node do
            not sum to 1.
    """
    n = len(leaves)
    if not all(isinstance(leaf, str) for leaf in leaves):
        raise ValueError("the leaves are no tokens")
    if len(levels) != len(counts):
        raise ValueError(f"{n} leaves make {len(counts)} levels, but there are {len(levels)}")
    read = []
    for height, (level, count) in enumerate(zip(levels, counts), start=1):
        try:
            nodes = np.array(level, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"level {height} is not a list of three numbers a node") from error
        if nodes.shape != (count, 3):
            raise ValueError(f"level {height} of {n} leaves has {count} nodes of 3 gates, not {nodes.shape}")
        if not (np.all(nodes >= 0) and np.all(np.abs(nodes.sum(axis=1) - 1) < ROUNDING)):
            raise ValueError(f"on level {height} the three gates of a node are no probabilities")
        read.append(nodes)
    return read
