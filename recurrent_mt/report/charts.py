"""What the page's script draws: systems as lines along length, or as points in groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..evaluation.bucket_scores import BucketScore
from ..evaluation.evaluation import Breakdown, MetricEvaluation, SystemCurve
from ..evaluation.evaluation_tables import percent
from ..evaluation.word_accuracy import WordAccuracy

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


def length_chart(metric: MetricEvaluation, curves: Sequence[SystemCurve]) -> Chart:
    """A metric along the length of one side."""
    first = curves[0].curve
    before, after = (first.window - 1) // 2, first.window // 2
    return Chart(
        identifier=slug(f"{metric.name} along {first.side} length"),
        kind="curve",
        title=f"{metric.name} along {TITLES[first.side]}",
        horizontal=f"{HORIZONTAL[first.side]}, window of {first.window}",
        vertical=vertical(metric),
        unit="sentences",
        places=first.lengths,
        labels=[f"{max(1, length - before)}–{length + after} words" for length in first.lengths],
        marks={one.system: list(map(score_mark, one.curve.points)) for one in curves},
    )


def unknown_chart(metric: MetricEvaluation, breakdown: Breakdown) -> Chart:
    """A metric by the number of unknown words."""
    return points(
        title=f"{metric.name} by {breakdown.by}",
        horizontal=breakdown.by,
        vertical=vertical(metric),
        unit="sentences",
        labels=[score.label for score in breakdown.systems[0].scores],
        marks={row.system: list(map(score_mark, row.scores)) for row in breakdown.systems},
    )


def word_chart(accuracies: Mapping[str, Sequence[WordAccuracy]]) -> Chart:
    """F-measure of words by their frequency in training."""
    return points(
        title="F-measure of words by frequency in training",
        horizontal="occurrences in the training text",
        vertical="F-measure, %",
        unit="words in references",
        labels=[group.label for group in next(iter(accuracies.values()))],
        marks={
            name: [Mark(percent(group.f_measure), None, None, group.expected) for group in groups]
            for name, groups in accuracies.items()
        },
    )


def points(
    *, title: str, horizontal: str, vertical: str, unit: str, labels: Sequence[str], marks: Mapping[str, Sequence[Mark]]
) -> Chart:
    """A chart of groups; those in which no system has a value get no place."""
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


def length_charts(metric: MetricEvaluation) -> Iterator[tuple[Chart, Sequence[SystemCurve]]]:
    """A metric along the length of each side, as far as there is a point, and the curves that each chart shows."""
    for side in dict.fromkeys(one.curve.side for one in metric.curves):
        curves = [one for one in metric.curves if one.curve.side == side]
        if curves[0].curve.points:
            yield length_chart(metric, curves), curves


def unknown_charts(metric: MetricEvaluation) -> Iterator[Chart]:
    """A metric by each count of unknown words, as far as there is a group with sentences."""
    for breakdown in metric.breakdowns:
        if breakdown.by.startswith("unknown words, "):
            chart = unknown_chart(metric, breakdown)
            if chart.places:
                yield chart


def score_mark(score: BucketScore) -> Mark:
    """A bucket's score as a mark."""
    return Mark(score.mean, score.low, score.high, score.count)


def vertical(metric: MetricEvaluation) -> str:
    """Title of the axis of scores."""
    return metric.name + (" (lower is better)" if metric.lower_is_better else "")


def slug(text: str) -> str:
    """A name for an element."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
