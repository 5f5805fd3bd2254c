"""A score against sentence length, smoothed by a window, as the figures of Cho et al. (2014b) show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bucket_scores import BucketScore, ScoredSystem, score_buckets
from .buckets import SIDES, Bucket, Bucketing, check_choice, lengths
from .test_set import TestSet

WINDOW = 10
FEWEST = 10


@dataclass(frozen=True)
class LengthCurve:
    """One curve.

    Attributes:
        side: whose words are counted.
        window: how many lengths a point covers.
        fewest: a point with fewer sentences is left out.
        lengths: the middle of each point's window.
        points: the score of the sentences in it.
    """

    side: str
    window: int
    fewest: int
    lengths: Sequence[int]
    points: Sequence[BucketScore]


def windows(test_set: TestSet, side: str, *, window: int = WINDOW, fewest: int = FEWEST) -> dict[int, list[int]]:
    """The sentences of each point of a curve.

    The point at length n covers the lengths n − ⌊(window − 1) / 2⌋ to n + ⌊window / 2⌋ (10: from n − 4 to n + 5). With
    ``both``, a sentence belongs to a point if both its sides do.

    Raises:
        ValueError: for another side, or a window or a number of sentences below 1.
    """
    check_choice("side", side, SIDES)
    if window < 1 or fewest < 1:
        raise ValueError(f"window is {window} and fewest is {fewest}: both must be 1 or more")
    sides = ("source", "reference") if side == "both" else (side,)
    sentences = list(zip(*(lengths(test_set, one) for one in sides), strict=True))
    longest = max((max(pair) for pair in sentences), default=0)
    points = {}
    for middle in range(1, longest + 1):
        low, high = middle - (window - 1) // 2, middle + window // 2
        members = [number for number, pair in enumerate(sentences) if low <= min(pair) and max(pair) <= high]
        if len(members) >= fewest:
            points[middle] = members
    return points


def length_curve(
    scored: ScoredSystem,
    test_set: TestSet,
    side: str,
    *,
    window: int = WINDOW,
    fewest: int = FEWEST,
    resamples: int = 0,
) -> LengthCurve:
    """Scores every point with at least `fewest` sentences; see `windows` for the sentences of a point."""
    points = windows(test_set, side, window=window, fewest=fewest)
    bucketing = Bucketing(f"{side} length", [Bucket(str(length), members) for length, members in points.items()])
    scores = score_buckets(scored, bucketing, resamples=resamples)
    return LengthCurve(side, window, fewest, list(points), scores)
