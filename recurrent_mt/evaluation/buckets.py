"""Sentences of a test set, grouped by length or by unknown words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .test_set import TestSet, UnknownWords

SIDES = ("source", "reference", "both")
UNKNOWN_SIDES = ("source", "reference", "either")
#: What the names of curves begin with: their groups overlap.
ALONG = "along "


@dataclass(frozen=True)
class Bucket:
    """A group of sentences: what they have in common, and their positions in the test set."""

    label: str
    sentences: Sequence[int]


@dataclass(frozen=True)
class Bucketing:
    """Groups in order, and what they were made by.

    Attributes:
        by: for captions, for example ``source length``.
        buckets: a sentence is in one of them, or, where two sides have to agree, in one or none.
        outside: number of sentences in none.
    """

    by: str
    buckets: Sequence[Bucket]
    outside: int = 0


def count_words(test_set: TestSet, side: str) -> list[int]:
    """Words of each sentence on one side, the end of sentence not counted.

    Raises:
        ValueError: if the test set has no sources and they are asked for.
    """
    words = test_set.source_words if side == "source" else test_set.reference_words
    if len(words) != len(test_set):
        raise ValueError("lengths of the source are asked for, but no source text was given")
    return [len(sentence) for sentence in words]


def by_window(test_set: TestSet, side: str, *, window: int = 10, fewest: int = 10) -> Bucketing:
    """The sentences of each point of a curve along length, labeled with the length in the middle; groups overlap.

    The point at length n covers the lengths n − ⌊(window − 1) / 2⌋ to n + ⌊window / 2⌋ (10: from n − 4 to n + 5). With
    ``both``, a sentence belongs to a point if both its sides do. Points with fewer than ``fewest`` sentences are left
    out.

    Raises:
        ValueError: for another side, or a window or a number of sentences below 1.
    """
    check_choice("side", side, SIDES)
    if window < 1 or fewest < 1:
        raise ValueError(f"window is {window} and fewest is {fewest}: both must be 1 or more")
    sides = ("source", "reference") if side == "both" else (side,)
    sentences = list(zip(*(count_words(test_set, one) for one in sides), strict=True))
    longest = max((max(pair) for pair in sentences), default=0)
    points = []
    for middle in range(1, longest + 1):
        low, high = middle - (window - 1) // 2, middle + window // 2
        members = [number for number, pair in enumerate(sentences) if low <= min(pair) and max(pair) <= high]
        if len(members) >= fewest:
            points.append(Bucket(str(middle), members))
    return Bucketing(f"{ALONG}{side} length", points)


def by_length(test_set: TestSet, side: str, limits: Sequence[int] = (10, 20, 30, 40, 50, 60)) -> Bucketing:
    """Groups by length: up to each limit, and above the last.

    Args:
        test_set: what to group.
        side: ``source``, ``reference``, or ``both``: then a sentence counts where both sides fall into the same group
            (Cho et al. 2014b select sentences of 10 to 20 words that way).
        limits: the greatest length of each group, increasing.

    Raises:
        ValueError: for another side, or limits that do not increase.
    """
    check_choice("side", side, SIDES)
    if not limits or limits[0] < 0 or any(low >= high for low, high in itertools.pairwise(limits)):
        raise ValueError(f"limits of length must increase: {list(limits)}")
    labels = [
        *(f"{low + 1}–{high}" if low + 1 < high else f"{high}" for low, high in zip([0, *limits], limits)),
        f"over {limits[-1]}",
    ]
    sides = ("source", "reference") if side == "both" else (side,)
    places = [[find_group(length, limits) for length in count_words(test_set, one)] for one in sides]
    return collect_groups(f"{side} length", labels, agree_on_groups(places))


def by_unknown_words(unknown: UnknownWords, side: str, most: int = 5) -> Bucketing:
    """Groups by the number of unknown words: 0, 1, … and `most` or more.

    Args:
        unknown: the counts of the model's own dictionaries.
        side: ``source``, ``reference`` or ``either``: the greater of the two counts.
        most: where the last group begins.

    Raises:
        ValueError: for another side, or `most` below 1.
    """
    check_choice("side", side, UNKNOWN_SIDES)
    if most < 1:
        raise ValueError(f"the last group of unknown words must begin at 1 or later, not at {most}")
    if side == "either":
        counts: Sequence[int] = [max(pair) for pair in zip(unknown.source, unknown.reference, strict=True)]
    else:
        counts = getattr(unknown, side)
    labels = [*map(str, range(most)), f"{most} or more"]
    return collect_groups(f"unknown words, {side}", labels, [min(count, most) for count in counts])


def within_length(bucketing: Bucketing, test_set: TestSet, shortest: int, longest: int) -> Bucketing:
    """The same groups without the sentences whose source (reference, without one) is shorter or longer.

    Long sentences have more unknown words; among sentences of like length the two are not mixed up.
    """
    words = count_words(test_set, "source" if test_set.source else "reference")
    kept = {number for number, length in enumerate(words) if shortest <= length <= longest}
    buckets = [
        Bucket(bucket.label, [number for number in bucket.sentences if number in kept]) for bucket in bucketing.buckets
    ]
    outside = len(test_set) - sum(len(bucket.sentences) for bucket in buckets)
    return Bucketing(f"{bucketing.by}, {shortest}–{longest} words", buckets, outside)


def whole(test_set: TestSet) -> Bucketing:
    """One group of all sentences."""
    return Bucketing("all", [Bucket("all", range(len(test_set)))])


def known_sentences(unknown: UnknownWords) -> Bucketing:
    """All sentences, and those without an unknown word on either side: the papers' rows All and No UNK."""
    known = [number for number, pair in enumerate(zip(unknown.source, unknown.reference, strict=True)) if not any(pair)]
    return Bucketing("unknown words", [Bucket("all", range(len(unknown.source))), Bucket("no unknown word", known)])


def find_group(length: int, limits: Sequence[int]) -> int:
    """Which group a length falls into."""
    return sum(length > limit for limit in limits)


def agree_on_groups(places: Sequence[Sequence[int]]) -> list[int | None]:
    """The group of each sentence on which all sides agree, None where they do not."""
    return [first if all(other == first for other in rest) else None for first, *rest in zip(*places, strict=True)]


def collect_groups(by: str, labels: Sequence[str], places: Iterable[int | None]) -> Bucketing:
    """Buckets of the sentences that have a place."""
    members: list[list[int]] = [[] for _ in labels]
    outside = 0
    for number, index in enumerate(places):
        if index is None:
            outside += 1
        else:
            members[index].append(number)
    return Bucketing(by, [Bucket(*pair) for pair in zip(labels, members, strict=True)], outside)


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raises ValueError naming the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: choose one of {', '.join(choices)}")
