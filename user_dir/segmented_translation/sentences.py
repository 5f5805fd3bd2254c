"""Sentences cut where their spans cost the least, and translated span by span."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from .spans import Mode, SpanTable, Words


@dataclass(frozen=True)
class Segment:
    """A span of a sentence and its part of the translation.

    Attributes:
        start: position of the first word, from 0.
        end: position after the last word.
        source: its words, space-separated.
        translation: its translation, the same way.
        cost: of the span, see `spans`.
    """

    start: int
    end: int
    source: str
    translation: str
    cost: float


@dataclass(frozen=True)
class SegmentedTranslation:
    """A sentence's segments in order, and the sum of their costs."""

    cost: float
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        return " ".join(segment.translation for segment in self.segments if segment.translation)

    def as_record(self) -> dict[str, object]:
        return {"cost": self.cost, "segments": [asdict(segment) for segment in self.segments]}


def translate_by_segments(sentence: Words, table: SpanTable, mode: Mode) -> SegmentedTranslation:
    """Cuts a sentence whose spans are in the table where that costs the least, and joins the spans' translations."""
    cuts = cheapest_segmentation(
        len(sentence), lambda start, end: table.cost(sentence[start:end], mode), longest=table.options.longest
    )
    return SegmentedTranslation(cuts.cost, _segments(sentence, cuts.spans, table, mode))


def _segments(sentence: Words, spans: Sequence[tuple[int, int]], table: SpanTable, mode: Mode) -> tuple[Segment, ...]:
    segments = []
    for start, end in spans:
        words = sentence[start:end]
        translation = table.translation(words, mode, first=start == 0, last=end == len(sentence))
        cost = table.cost(words, mode)
        segments.append(Segment(start, end, " ".join(words), " ".join(translation), cost))
    return tuple(segments)


@dataclass(frozen=True)
class Segmentation:
    """A sentence cut into spans.

    Attributes:
        cost: the sum of the spans' costs.
        spans: (start, end) of each, in order; ``end`` is the position after the last word.
    """

    cost: float
    spans: tuple[tuple[int, int], ...]


def cheapest_segmentation(length: int, span_cost: Callable[[int, int], float], *, longest: int) -> Segmentation:
    """Finds the cheapest segmentation that has no span of more than ``longest`` words.

    The best segmentation of each prefix is the best last span after the best segmentation of what comes before it. If
    two last spans of a prefix give the same sum, the longer one is used, as in the authors' ``segment.py``.

    Args:
        length: how many words the sentence has; an empty sentence costs nothing.
        span_cost: the cost of the words from start up to, not including, end; +∞ forbids the span.
        longest: the most words in a span.

    Raises:
        ValueError: if a cost is not a number or −∞, if ``longest`` is below 1, or if all segmentations are forbidden.
    """
    if longest < 1:
        raise ValueError(f"a span needs room for at least one word, not {longest}")
    prefix_cost = [0.0] + [math.inf] * length
    last_start = [0] * (length + 1)
    for end in range(1, length + 1):
        for start in range(max(0, end - longest), end):
            cost = span_cost(start, end)
            if math.isnan(cost) or cost == -math.inf:
                raise ValueError(f"the span from word {start + 1} to word {end} has the cost {cost}")
            if prefix_cost[start] + cost < prefix_cost[end]:
                prefix_cost[end] = prefix_cost[start] + cost
                last_start[end] = start
    if prefix_cost[length] == math.inf:
        raise ValueError(f"every segmentation of the {length} words has a forbidden span")
    spans, end = [], length
    while end > 0:
        spans.append((last_start[end], end))
        end = last_start[end]
    return Segmentation(prefix_cost[length], tuple(reversed(spans)))
