"""Gates of grConvs over single sentences: pyramids and windows of dilated grConvs.

On level t of a dilated grConv, the forward node at word j joins the window that ends at word j − 2^(t−1) with the one
that ends at j; the backward node joins the window that begins at j with the one that begins at j + 2^(t−1). Which
windows are joined is the same for all sentences of one length: gates choose what a node keeps of its two windows, and
no tree follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...subwords import END_OF_SENTENCE, merge_pieces, word_numbers

#: A node or, on level 0, a leaf: its level, and the word at which it stands.
Node = tuple[int, int]
#: Places of a node's gates.
NEW, LEFT, RIGHT = 0, 1, 2


class Join(NamedTuple):
    """A node with its children and its gates."""

    node: Node
    left: Node
    right: Node
    gates: np.ndarray  # (3,), [new, left, right]

    def children(self) -> list[tuple[int, Node]]:
        """The two children, each with the place of its gate."""
        return [(LEFT, self.left), (RIGHT, self.right)]


@dataclass(frozen=True)
class GatedSentence:
    """A sentence whose nodes have gates."""

    number: int  # of the sentence, from 0
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
        """The words, where leaves are pieces of words, see :mod:`recurrent_mt.subwords`."""
        return merge_pieces(self.words, word_numbers(self.words, segmentation), segmentation)


@dataclass(frozen=True)
class PyramidGates(GatedSentence):
    """The gates of a sentence's nodes."""

    #: (n, n, 3): ``gates[i, k]`` is [new, left, right] of the node that covers the leaves i to k, i < k; the rest is
    #: zero. Left is the child over i to k − 1, right the child over i + 1 to k.
    gates: np.ndarray

    def shuffled(self, generator: np.random.Generator) -> PyramidGates:
        """A pyramid with the gates of each level's nodes in random order."""
        first, last = level_nodes(len(self.leaves))
        heights = range(1, len(self.leaves))
        other = np.concatenate([first[:0], *(generator.permutation(len(self.leaves) - height) for height in heights)])
        moved = self.gates.copy()
        moved[first, last] = self.gates[other, other + last - first]
        return PyramidGates(self.number, self.leaves, moved)

    @classmethod
    def from_levels(cls, number: int, leaves: Sequence[str], levels: Sequence) -> PyramidGates:
        """Makes a pyramid: ``levels[t - 1][j]`` is [new, left, right] of the node over the leaves j to j + t."""
        n = len(leaves)
        first, last = level_nodes(n)
        gates = np.zeros((n, n, 3))
        gates[first, last] = np.concatenate([np.empty((0, 3)), *levels])
        return cls(number, tuple(leaves), gates)

    def joins(self) -> list[Join]:
        """The nodes, level by level; a node stands at the first word that it covers."""
        levels = range(1, len(self.leaves))
        nodes = ((level, word) for level in levels for word in range(len(self.leaves) - level))
        return [
            Join((level, word), (level - 1, word), (level - 1, word + 1), self.gates[word, word + level])
            for level, word in nodes
        ]


def level_nodes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last leaf of every node above n leaves, level by level: (n(n − 1)/2,) each."""
    height, first = np.nonzero(np.tri(max(n - 1, 0))[::-1])
    return first, first + height + 1


@dataclass(frozen=True)
class WindowGates(GatedSentence):
    """The gates of both directions. Left and right are what they are in the sentence, in either direction.

    ``forward[t - 1][i]``, of (n − 2^(t−1), 3), is [new, left, right] of the node on level t that joins the windows
    which end at the words i and i + 2^(t−1); ``backward[t - 1][i]`` of the one that joins those which begin there.
    """

    forward: tuple[np.ndarray, ...]
    backward: tuple[np.ndarray, ...]

    @classmethod
    def from_levels(cls, number: int, leaves: Sequence[str], directions: Sequence) -> WindowGates:
        """From the levels of the forward direction and those of the backward direction."""
        forward, backward = (tuple(np.array(level) for level in levels) for levels in directions)
        return cls(number, tuple(leaves), forward, backward)

    def joins(self, *, backward: bool = False) -> list[Join]:
        """The nodes of one direction, level by level.

        A word that has no node on a level has its node of the level below there.
        """
        joins: list[Join] = []
        # highest[j]: the level of word j's highest node so far.
        highest = [0] * len(self.leaves)
        for level, gates in enumerate(self.backward if backward else self.forward, start=1):
            below, distance = highest[:], len(self.leaves) - len(gates)
            for first, gate in enumerate(gates):
                last = first + distance
                word = first if backward else last
                joins.append(Join((level, word), (below[first], first), (below[last], last), gate))
                highest[word] = level
        return joins


def gates_of(record: dict[str, Any]) -> PyramidGates | WindowGates:
    """The gates of one sentence, as `sentence_gates` returns them."""
    sentence = record["sentence"], record["source"], record["gates"]
    if record.get("dilated"):
        return WindowGates.from_levels(*sentence)
    return PyramidGates.from_levels(*sentence)
