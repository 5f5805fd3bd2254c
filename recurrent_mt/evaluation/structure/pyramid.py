"""The pyramid of gates of one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from ...text_files import read_sentence_records
from ..subwords import END_OF_SENTENCE, merge_pieces, word_numbers

#: How far a node's three gates may be from 1 together: each is rounded to five decimals.
ROUNDING = 1e-4

FIELDS = {"sentence": int, "source": list, "gates": list}


@dataclass(frozen=True)
class Pyramid:
    """The gates of a sentence's nodes."""

    number: int  # of the sentence in its file, from 0
    leaves: tuple[str, ...]  # the encoder's tokens, ``</s>`` included where it has read one
    #: (n, n, 3): ``gates[i, k]`` is [new, left, right] of the node that covers the leaves i to k, i < k; the rest is
    #: zero. Left is the child over i to k − 1, right the child over i + 1 to k.
    gates: np.ndarray

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
        if not all(isinstance(leaf, str) for leaf in leaves):
            raise ValueError("the leaves are no tokens")
        if len(levels) != max(n - 1, 0):
            raise ValueError(f"{n} leaves make {max(n - 1, 0)} levels, but there are {len(levels)}")
        gates = np.zeros((n, n, 3))
        for height, level in enumerate(levels, start=1):
            try:
                nodes = np.array(level, dtype=float)
            except (TypeError, ValueError) as error:
                raise ValueError(f"level {height} is not a list of three numbers a node") from error
            if nodes.shape != (n - height, 3):
                raise ValueError(f"level {height} of {n} leaves has {n - height} nodes of 3 gates, not {nodes.shape}")
            if not (np.all(nodes >= 0) and np.all(np.abs(nodes.sum(axis=1) - 1) < ROUNDING)):
                raise ValueError(f"on level {height} the three gates of a node are no probabilities")
            first = np.arange(n - height)
            gates[first, first + height] = nodes
        return cls(number, tuple(leaves), gates)


def read_pyramids(path: str | PathLike[str]) -> list[Pyramid]:
    """Reads the gates that :func:`user_dir.checkpoints.gates.sentence_gates` found, one sentence a line.

    Raises:
        FileError: naming the line that is not a whole pyramid or not the next sentence.
    """
    return read_sentence_records(
        path, FIELDS, lambda record: Pyramid.from_levels(record["sentence"], record["source"], record["gates"])
    )
