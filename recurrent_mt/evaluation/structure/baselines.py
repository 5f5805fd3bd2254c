"""Binary trees that know nothing of the sentence but its length."""

from __future__ import annotations

import random
from collections.abc import Callable

from .spans import Spans


def left_branching(leaves: int) -> Spans:
    """``(((a b) c) d)``."""
    return frozenset((0, end) for end in range(2, leaves + 1))


def right_branching(leaves: int) -> Spans:
    """``(a (b (c d)))``."""
    return frozenset((first, leaves) for first in range(leaves - 1))


def balanced(leaves: int) -> Spans:
    """``((a b) (c d))``: every phrase split in the middle; of an odd number the left half has one more."""
    return _split_everywhere(leaves, lambda first, end: (first + end + 1) // 2)


def random_tree(leaves: int, generator: random.Random) -> Spans:
    """Every phrase split at one of its places, all equally probable."""
    return _split_everywhere(leaves, lambda first, end: generator.randrange(first + 1, end))


def _split_everywhere(leaves: int, split: Callable[[int, int], int]) -> Spans:
    spans, waiting = set(), [(0, leaves)]
    while waiting:
        first, end = waiting.pop()
        if end - first > 1:
            spans.add((first, end))
            middle = split(first, end)
            waiting += [(first, middle), (middle, end)]
    return frozenset(spans)
