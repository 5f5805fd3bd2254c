"""Groups of a test set's sentences: by length, along it, and by the number of words that a model does not know."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .tables import Group
from .translated_files import TestSet, UnknownWords

SIDES = ("source", "reference", "both")
UNKNOWN_SIDES = ("source", "reference", "either")


@dataclass(frozen=True)
class Bucketing:
    """Groups of sentences: their labels, in order, with the positions of their sentences in the test set.

    A sentence is in one of them, or, where two sides have to agree, in one or none; in a curve's, in any number.
    """

    by: str  # what they were made by, for example ``source length``
    buckets: Mapping[str, Sequence[int]]
    group: str = ""  # `Record.group` and `Record.side` of their scores
    side: str = ""


def by_window(test_set: TestSet, side: str, *, window: int = 10, fewest: int = 10) -> Bucketing:
    """The sentences of each point of a curve along length, labeled with the length in the middle; groups overlap.

    The point at length n covers the lengths n − ⌊(window − 1) / 2⌋ to n + ⌊window / 2⌋ (10: from n − 4 to n + 5). With
    ``both``, a sentence belongs to a point if both its sides do. Points run from the least length that occurs to the
    greatest; those with fewer than ``fewest`` sentences are left out.
    """
    sentences = count_words(test_set, side)
    shortest = min((min(lengths) for lengths in sentences), default=0)
    longest = max((max(lengths) for lengths in sentences), default=0)
    points = {}
    for middle in range(max(shortest, 1), longest + 1):
        low, high = middle - (window - 1) // 2, middle + window // 2
        members = [number for number, lengths in enumerate(sentences) if low <= min(lengths) and max(lengths) <= high]
        if len(members) >= fewest:
            points[str(middle)] = members
    return Bucketing(f"along {side} length", points, Group.CURVE, side)


def by_length(test_set: TestSet, side: str, limits: Sequence[int] = (10, 20, 30, 40, 50, 60)) -> Bucketing:
    """Groups by length: up to each limit, and above the last; 0 is a group of its own if there are such sentences.

    Args:
        test_set: what to group.
        side: ``source``, ``reference``, or ``both``: then a sentence counts where both sides fall into the same group
            (Cho et al. 2014b select sentences of 10 to 20 words that way).
        limits: the greatest length of each group, increasing.

    Raises:
        ValueError: if limits do not increase.
    """
    if not limits or limits[0] < 0 or any(low >= high for low, high in itertools.pairwise(limits)):
        raise ValueError(f"limits of length must increase: {list(limits)}")
    sentences = count_words(test_set, side)
    shows_empty = limits[0] == 0 or any(not any(lengths) for lengths in sentences)
    limits = [0, *limits] if limits[0] > 0 else limits
    labels = [
        *(f"{low + 1}–{high}" if low + 1 < high else f"{high}" for low, high in zip([0, *limits], limits)),
        f"over {limits[-1]}",
    ]
    groups = [{sum(length > limit for limit in limits) for length in lengths} for lengths in sentences]
    places = [group.pop() if len(group) == 1 else None for group in groups]
    buckets = collect_groups(labels, places)
    if not shows_empty:
        del buckets[labels[0]]
    return Bucketing(f"{side} length", buckets, Group.LENGTH, side)


def count_words(test_set: TestSet, side: str) -> list[tuple[int, ...]]:
    """Words of each sentence on one side or on both, the end of sentence not counted."""
    words = {"source": [test_set.source_words], "reference": [test_set.reference_words]}
    words["both"] = words["source"] + words["reference"]
    return [tuple(map(len, sentences)) for sentences in zip(*words[side], strict=True)]


def by_unknown_words(unknown: UnknownWords, side: str, most: int = 5) -> Bucketing:
    """Groups by the number of unknown words: 0, 1, … and `most` or more.

    Args:
        unknown: the counts of the model's own dictionaries.
        side: ``source``, ``reference`` or ``either``: the greater of the two counts.
        most: where the last group begins.
    """
    counts = map(max, zip(unknown.source, unknown.reference)) if side == "either" else getattr(unknown, side)
    labels = [*map(str, range(most)), f"{most} or more"]
    buckets = collect_groups(labels, [min(count, most) for count in counts])
    return Bucketing(f"unknown words, {side}", buckets, Group.UNKNOWN_WORDS, side)


def within_length(bucketing: Bucketing, test_set: TestSet, shortest: int, longest: int) -> Bucketing:
    """The same groups without the sentences whose source (reference, without one) is shorter or longer.

    Long sentences have more unknown words; among sentences of like length the two are not mixed up.
    """
    lengths = count_words(test_set, "source" if test_set.source else "reference")
    kept = {number for number, (length,) in enumerate(lengths) if shortest <= length <= longest}
    buckets = {
        label: [number for number in sentences if number in kept] for label, sentences in bucketing.buckets.items()
    }
    return replace(bucketing, by=f"{bucketing.by}, {shortest}–{longest} words", buckets=buckets)


def known_sentences(unknown: UnknownWords) -> Bucketing:
    """All sentences, and those without an unknown word on either side: the papers' rows All and No UNK."""
    known = [number for number, pair in enumerate(zip(unknown.source, unknown.reference, strict=True)) if not any(pair)]
    buckets = {"all": range(len(unknown.source)), "no unknown word": known}
    return Bucketing("unknown words", buckets, Group.UNKNOWN_WORDS)


def collect_groups(labels: Sequence[str], places: Iterable[int | None]) -> dict[str, list[int]]:
    """The sentences that have a place, by the label of it."""
    members: list[list[int]] = [[] for _ in labels]
    for number, place in enumerate(places):
        if place is not None:
            members[place].append(number)
    return dict(zip(labels, members))
