"""The gates of a dilated grConv over one sentence, by the windows that its nodes join.

On level t, the forward node at word j joins the window that ends at word j − 2^(t−1) with the one that ends at j; the
backward node joins the window that begins at j with the one that begins at j + 2^(t−1). Which windows are joined is the
same for all sentences of one length: gates choose what a node keeps of its two windows, and no tree follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .sentence import GatedSentence, read_levels

Node = tuple[int, int]


class Join(NamedTuple):
    """A node: its level, the word at which it stands, and its children, each as (level, word)."""

    level: int
    word: int
    left: Node
    right: Node

    def children(self) -> list[tuple[int, Node]]:
        """Both, each with the place of its gate."""
        return [(1, self.left), (2, self.right)]


@dataclass(frozen=True)
class Windows(GatedSentence):
    """The gates of both directions. Left and right are what they are in the sentence, in either direction.

    ``forward[t - 1][i]``, of (n − 2^(t−1), 3), is [new, left, right] of the node on level t that joins the windows
    which end at the words i and i + 2^(t−1); ``backward[t - 1][i]`` of the one that joins those which begin there.
    """

    forward: tuple[np.ndarray, ...]
    backward: tuple[np.ndarray, ...]

    @classmethod
    def from_levels(cls, number: int, leaves: Sequence[str], directions: Sequence) -> Windows:
        """From the levels of the forward direction and those of the backward direction.

        Raises:
            ValueError: if there are not two directions of ⌈log₂ n⌉ levels of n − 2^(t−1) nodes of three gates that sum
                to 1.
        """
        if len(directions) != 2:
            raise ValueError(f"a dilated grConv has two directions, but there are {len(directions)}")
        forward, backward = (tuple(read_levels(leaves, levels, count_nodes(len(leaves)))) for levels in directions)
        return cls(number, tuple(leaves), forward, backward)


def count_nodes(leaves: int) -> list[int]:
    """How many nodes each level over so many leaves has."""
    return [leaves - 2**height for height in range(max(leaves - 1, 0).bit_length())]


def list_joins(leaves: int, *, backward: bool = False) -> list[list[Join]]:
    """The nodes of each level, in the order of their gates.

    A word that has no node on a level has its node of the level below there.
    """
    joins: list[list[Join]] = []
    # highest[j]: the level of word j's highest node so far.
    highest = [0] * leaves
    for level, count in enumerate(count_nodes(leaves), start=1):
        distance = leaves - count
        joins.append([])
        for first in range(count):
            last = first + distance
            word = first if backward else last
            joins[-1].append(Join(level, word, (highest[first], first), (highest[last], last)))
        for join in joins[-1]:
            highest[join.word] = level
    return joins
