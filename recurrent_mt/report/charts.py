"""What the page's script draws: systems as lines along length, or as points in groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..evaluation.analysis import Analysis
from ..evaluation.buckets import ALONG
from ..evaluation.plots import group_by_system, length_sides, unknown_word_counts
from ..evaluation.records import Record, select_records
from ..evaluation.score_tables import name_metric
from ..evaluation.words import F_MEASURE

#: What the lengths of each side are called: above a chart and below it.
TITLES = {"source": "source length", "reference": "reference length", "both": "the length of both sides"}
HORIZONTAL = {"source": "source words", "reference": "reference words", "both": "words on both sides"}


@dataclass(frozen=True)
class Mark:
    """One system at one place of a chart.

    Attributes:
        value: None where there is nothing to score.
        low: lower end of its interval, None without one.
        high: upper end.
        count: how many sentences or words it stands for.
    """

    value: float | None
    low: float | None
    high: float | None
    count: int


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        identifier: of the place in the page where it is drawn.
        kind: ``curve`` or ``points``.
        title: what it shows.
        horizontal: title of the horizontal axis.
        vertical: of the vertical one.
        unit: what `Mark.count` counts.
        places: where marks stand, for a curve the lengths, for points 0, 1, ….
        labels: what each place is called.
        marks: for each system a mark at each place.
        empty: groups without anything in them, which have no place.
    """

    identifier: str
    kind: str
    title: str
    horizontal: str
    vertical: str
    unit: str
    places: Sequence[int]
    labels: Sequence[str]
    marks: Mapping[str, Sequence[Mark]]
    empty: Sequence[str] = ()

    def data(self, systems: Sequence[str]) -> dict[str, Any]:
        """What the page gets; marks as rows of value, low, high and count, by the system's place."""
        return {
            "identifier": self.identifier,
            "kind": self.kind,
            "title": self.title,
            "horizontal": self.horizontal,
            "vertical": self.vertical,
            "unit": self.unit,
            "places": list(self.places),
            "labels": list(self.labels),
            "series": [
                {
                    "system": systems.index(name),
                    "marks": [[mark.value, mark.low, mark.high, mark.count] for mark in marks],
                }
                for name, marks in self.marks.items()
            ],
        }


def length_charts(analysis: Analysis, metric: str) -> Iterator[Chart]:
    """A metric along the length of each side, as far as there is a point."""
    for side in length_sides(analysis.records, metric):
        yield length_chart(analysis, metric, side)


def length_chart(analysis: Analysis, metric: str, side: str) -> Chart:
    """A metric along the length of one side."""
    curves = group_by_system(select_records(analysis.records, metric=metric, by=ALONG.format(side)))
    lengths = list(map(int, next(iter(curves.values()))))
    window = analysis.settings.window
    before, after = (window - 1) // 2, window // 2
    return Chart(
        identifier=slug(f"{metric} along {side} length"),
        kind="curve",
        title=f"{metric} along {TITLES[side]}",
        horizontal=f"{HORIZONTAL[side]}, window of {window}",
        vertical=name_metric(metric),
        unit="sentences",
        places=lengths,
        labels=[f"{max(1, length - before)}–{length + after} words" for length in lengths],
        marks={system: list(map(make_mark, points.values())) for system, points in curves.items()},
    )


def unknown_charts(analysis: Analysis, metric: str) -> Iterator[Chart]:
    """A metric by each count of unknown words, as far as there is a group with sentences."""
    for by in unknown_word_counts(analysis.records, metric):
        chart = points(
            title=f"{metric} by {by}",
            horizontal=by,
            vertical=name_metric(metric),
            unit="sentences",
            records=select_records(analysis.records, metric=metric, by=by),
        )
        if chart.places:
            yield chart


def word_chart(analysis: Analysis) -> Chart:
    """F-measure of words by their frequency in training."""
    return points(
        title="F-measure of words by frequency in training",
        horizontal="occurrences in the training text",
        vertical="F-measure, %",
        unit="words in references",
        records=select_records(analysis.records, metric=F_MEASURE),
    )


def make_mark(record: Record) -> Mark:
    """A record as a mark."""
    return Mark(record.value, record.low, record.high, record.n)


def points(*, title: str, horizontal: str, vertical: str, unit: str, records: Sequence[Record]) -> Chart:
    """A chart of groups; those in which no system has a value get no place."""
    rows = group_by_system(records)
    labels = list(next(iter(rows.values())))
    marks = {system: list(map(make_mark, row.values())) for system, row in rows.items()}
    kept = [index for index in range(len(labels)) if any(row[index].value is not None for row in marks.values())]
    return Chart(
        identifier=slug(title),
        kind="points",
        title=title,
        horizontal=horizontal,
        vertical=vertical,
        unit=unit,
        places=range(len(kept)),
        labels=[labels[index] for index in kept],
        marks={name: [row[index] for index in kept] for name, row in marks.items()},
        empty=[label for index, label in enumerate(labels) if index not in kept],
    )


def slug(text: str) -> str:
    """A name for an element."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
