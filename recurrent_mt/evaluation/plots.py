"""Curves along sentence length and points by unknown words, as figures for a page or a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .evaluation import Breakdown, MetricEvaluation
from .figures import COLORS, MARKERS, save_figure
from .study import Study


def write_plots(study: Study, folder: str | Path) -> list[Path]:
    """Writes one SVG file for each curve and each count of unknown words; aside, then renamed."""
    paths = []
    for name, figure in figures(study):
        path = Path(folder) / f"{name}.svg"
        save_figure(figure, path)
        paths.append(path)
    return paths


def figures(study: Study) -> Sequence[tuple[str, Figure]]:
    """(name, figure) of every plot that the study has numbers for."""
    found = []
    for metric in study.metrics:
        for side in dict.fromkeys(one.curve.side for one in metric.curves):
            found.append((f"{metric.name.lower()}-by-{side}-length", length_figure(metric, side)))
        for breakdown in metric.breakdowns:
            if breakdown.by.startswith("unknown words, "):
                name = re.sub("[^a-z0-9]+", "-", f"{metric.name} by {breakdown.by}".lower())
                found.append((name, unknown_figure(metric, breakdown)))
    return found


def length_figure(metric: MetricEvaluation, side: str) -> Figure:
    """A metric along length, one line a system, its 95% interval as a band."""
    figure, axes = new_axes()
    for index, one in enumerate(one for one in metric.curves if one.curve.side == side):
        colour = COLORS[index % len(COLORS)]
        points = [(x, point) for x, point in zip(one.curve.lengths, one.curve.points) if point.mean is not None]
        axes.plot([x for x, _ in points], [point.mean for _, point in points], color=colour, label=one.system)
        banded = [(x, point.low, point.high) for x, point in points if point.low is not None]
        if banded:
            axes.fill_between(*map(list, zip(*banded)), color=colour, alpha=0.15, linewidth=0)
        window = one.curve.window
    axes.set_xlabel(f"length in words, {side} (window of {window})")
    finish(axes, metric)
    return figure


def unknown_figure(metric: MetricEvaluation, breakdown: Breakdown) -> Figure:
    """A metric by number of unknown words, one mark a system, with 95% intervals."""
    figure, axes = new_axes()
    labels = [score.label for score in breakdown.systems[0].scores]
    width = 0.6 / len(breakdown.systems)
    for index, row in enumerate(breakdown.systems):
        shift = (index - (len(breakdown.systems) - 1) / 2) * width
        points = [(x + shift, score) for x, score in enumerate(row.scores) if score.mean is not None]
        means = [score.mean or 0.0 for _, score in points]
        bars = [
            [mean - (score.low if score.low is not None else mean) for mean, (_, score) in zip(means, points)],
            [(score.high if score.high is not None else mean) - mean for mean, (_, score) in zip(means, points)],
        ]
        axes.errorbar(
            [x for x, _ in points],
            means,
            [[max(0.0, one) for one in side] for side in bars],
            color=COLORS[index % len(COLORS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle="none",
            capsize=2,
            label=row.system,
        )
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlabel(breakdown.by)
    finish(axes, metric)
    return figure


def new_axes() -> tuple[Figure, Axes]:
    """An empty figure, without pyplot and its global state."""
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    return figure, figure.add_subplot()


def finish(axes: Axes, metric: MetricEvaluation) -> None:
    """Labels, zero line and legend."""
    axes.set_ylabel(metric.name)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
