"""Unlabelled bracketing: how many phrases of a tree are phrases of the gold tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .spans import Spans, inner


@dataclass(frozen=True)
class BracketingScore:
    """Precision, recall and F1 in percent.

    Phrases of one word and the whole sentence are never counted: no tree can miss them. A gold phrase with another
    inside it over the same words counts once.

    Attributes:
        precision: right phrases among those proposed, over all sentences together.
        recall: right phrases among those of the gold trees, likewise.
        f1: of the two.
        sentence_f1: the mean of each sentence's own F1, over the sentences that have a gold phrase to find.
        sentences: how many those are.
    """

    precision: float
    recall: float
    f1: float
    sentence_f1: float
    sentences: int


def score_brackets(trees: Sequence[Spans], gold: Sequence[Spans], lengths: Sequence[int]) -> BracketingScore:
    """Scores trees against gold trees.

    Args:
        trees: of each sentence.
        gold: likewise.
        lengths: words of each sentence.

    Raises:
        ValueError: if there are not as many trees, gold trees and lengths.
    """
    if not len(trees) == len(gold) == len(lengths):
        raise ValueError(f"{len(trees)} trees, {len(gold)} gold trees and {len(lengths)} lengths: they must be as many")
    right = proposed = wanted = 0
    of_sentences = []
    for tree, gold_tree, length in zip(trees, gold, lengths):
        found, expected = inner(tree, length), inner(gold_tree, length)
        both = len(found & expected)
        right, proposed, wanted = right + both, proposed + len(found), wanted + len(expected)
        if expected:
            of_sentences.append(percent(2 * both, len(found) + len(expected)))
    return BracketingScore(
        precision=percent(right, proposed),
        recall=percent(right, wanted),
        f1=percent(2 * right, proposed + wanted),
        sentence_f1=sum(of_sentences) / len(of_sentences) if of_sentences else 0.0,
        sentences=len(of_sentences),
    )


def best_possible(gold: Sequence[Spans], lengths: Sequence[int]) -> BracketingScore:
    """What the best binary trees would score: gold trees need not be binary, so that not every phrase can be right."""
    # A binary tree can hold every phrase of a tree: the phrases it has besides are wrong.
    filled = [fill(inner(tree, length), length) for tree, length in zip(gold, lengths, strict=True)]
    return score_brackets(filled, gold, lengths)


def fill(spans: Spans, length: int) -> Spans:
    """A tree over ``length`` words made binary: the children of a phrase are joined from the left."""
    phrases = sorted({*spans, (0, length)}, key=lambda span: span[0] - span[1])
    binary = set()
    for first, end in phrases:
        starts, position = [first], first
        while position < end:
            ends = [e for f, e in spans if f == position and e <= end and (f, e) != (first, end)]
            position = max(ends, default=position + 1)
            starts.append(position)
        binary |= {(first, stop) for stop in starts[2:]}
    return frozenset(binary)


def percent(part: float, whole: float) -> float:
    """100 · part / whole, and 0 of nothing."""
    return 100 * part / whole if whole else 0.0
