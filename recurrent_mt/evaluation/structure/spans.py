"""Trees as sets of spans: what brackets enclose, without labels.

A span is (first leaf, leaf after the last one), counted from 0, as in a slice. A tree is the set of the spans of its
phrases of at least two leaves, the whole sentence included; a binary tree over n leaves has n − 1 of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

Span = tuple[int, int]
Spans = frozenset[Span]


def keep_leaves(spans: Iterable[Span], kept: Sequence[bool]) -> Spans:
    """The tree without some of its leaves, renumbered; phrases that become equal are one, those of one leaf go.

    Args:
        spans: of the tree.
        kept: for each leaf whether it stays.
    """
    before = [0, *accumulate(kept)]
    shorter = ((before[first], before[end]) for first, end in spans)
    return frozenset((first, end) for first, end in shorter if end - first > 1)


def merge_leaves(spans: Iterable[Span], numbers: Sequence[int]) -> Spans:
    """The tree over words of a tree over their pieces, whose phrases must not cut a word.

    Args:
        spans: of the tree.
        numbers: for each leaf the number of its word.
    """
    words = ((numbers[first], numbers[end - 1] + 1) for first, end in spans)
    return frozenset((first, end) for first, end in words if end - first > 1)


def inner(spans: Iterable[Span], leaves: int) -> Spans:
    """The phrases that a tree can get wrong: all but the whole sentence."""
    return frozenset(spans) - {(0, leaves)}


def brackets(words: Sequence[str], spans: Iterable[Span]) -> str:
    """The tree in round brackets, words between them: ``((the dog) barks)``."""
    opening, closing = [0] * len(words), [0] * len(words)
    for first, end in spans:
        opening[first] += 1
        closing[end - 1] += 1
    return " ".join("(" * begin + word + ")" * stop for begin, word, stop in zip(opening, words, closing, strict=True))
