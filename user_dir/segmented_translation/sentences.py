"""Sentences translated span by span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .confidence import Mode
from .cuts import cheapest_segmentation
from .spans import SpanTable, Words


@dataclass(frozen=True)
class Segment:
    """A span of a sentence and its part of the translation.

    Attributes:
        start: position of the first word, from 0.
        end: position after the last word.
        source: its words, space-separated.
        translation: its translation, the same way.
        cost: of the span, see `confidence`.
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
        """The joined translations of the segments."""
        return " ".join(segment.translation for segment in self.segments if segment.translation)

    def as_record(self) -> dict[str, object]:
        """Returns the translation as a record for JSON."""
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
