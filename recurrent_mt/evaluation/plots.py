"""Scores by sentence length, number of unknown words and word frequency, as figures for disk and for the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import nan
from pathlib import Path
from textwrap import fill

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .evaluation import Breakdown, MetricEvaluation
from .evaluation_tables import percent
from .fonts import font_families
from .length_curve import LengthCurve
from .output_files import save_figure
from .study import Study
from .word_accuracy import WordAccuracy

#: Okabe and Ito's colors, which people with any color vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
#: Of systems beyond the colors.
LINES = ("-", "--", ":", "-.")
#: Inches; at this width the text is readable on a phone and in a column of a page. The legend's rows come on top.
WIDTH, HEIGHT, LEGEND_ROW = 4.6, 3.3, 0.24
#: Characters of a system's name in a legend, and of a group's label on one line.
LONGEST_NAME, LABEL_LINE = 36, 9


@dataclass(frozen=True)
class Mark:
    """One system's value for one group, its interval if it has one, and how many sentences or words it covers."""

    value: float | None
    low: float | None
    high: float | None
    count: int


def write_plots(study: Study, folder: str | Path) -> list[Path]:
    """Writes one SVG file for each figure of the study; aside, then renamed."""
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
        for side in length_sides(metric):
            found.append((f"{metric.name.lower()}-by-{side}-length", length_figure(metric, side)))
        for breakdown in unknown_word_counts(metric):
            name = re.sub("[^a-z0-9]+", "-", f"{metric.name} by {breakdown.by}".lower())
            found.append((name, unknown_figure(metric, breakdown)))
    if study.words:
        found.append(("words-by-frequency", word_figure(study.words)))
    return found


def length_sides(metric: MetricEvaluation) -> list[str]:
    """The sides for which a metric has a curve with at least one point."""
    return list(dict.fromkeys(one.curve.side for one in metric.curves if one.curve.points))


def unknown_word_counts(metric: MetricEvaluation) -> list[Breakdown]:
    """The breakdowns of a metric by how many unknown words a sentence has."""
    return [breakdown for breakdown in metric.breakdowns if breakdown.by.startswith("unknown words, ")]


def length_figure(metric: MetricEvaluation, side: str) -> Figure:
    """A metric along length: a line for each system, its 95% interval as a band, and below how many sentences count."""
    curves = [one for one in metric.curves if one.curve.side == side]
    first = curves[0].curve
    # A line has a gap at the lengths that were left out.
    lengths = range(min(first.lengths), max(first.lengths) + 1)
    with style():
        figure = Figure(figsize=(WIDTH, HEIGHT + 0.5), layout="constrained")
        axes, counts = figure.subplots(2, 1, sharex=True, height_ratios=[6, 1])
        for index, one in enumerate(curves):
            color, line = COLOURS[index % len(COLOURS)], LINES[index // len(COLOURS) % len(LINES)]
            means, lows, highs = (values_at(lengths, one.curve, name) for name in ("mean", "low", "high"))
            dot = "." if len(lengths) == 1 else ""
            axes.plot(lengths, means, line, marker=dot, color=color, label=one.system, gid=f"system-{index}-line")
            band = axes.fill_between(lengths, lows, highs, color=color, alpha=0.15, linewidth=0)
            band.set_gid(f"system-{index}-band")
        counts.bar(first.lengths, [point.count for point in first.points], color="#b0b8c4")
        counts.set_ylabel("sentences", fontsize=9)
        counts.spines[["top", "right"]].set_visible(False)
        words = "words in source and reference" if side == "both" else f"{side} words"
        counts.set_xlabel(f"{words} (window of {first.window})")
        finish(figure, metric_label(metric))
    return figure


def values_at(lengths: Sequence[int], curve: LengthCurve, name: str) -> list[float]:
    """A number of each point, not-a-number where there is none."""
    points = dict(zip(curve.lengths, curve.points))
    found = [getattr(points.get(length), name, None) for length in lengths]
    return [nan if number is None else number for number in found]


def unknown_figure(metric: MetricEvaluation, breakdown: Breakdown) -> Figure:
    """A metric by number of unknown words, one mark a system, with 95% intervals."""
    labels = [score.label for score in breakdown.systems[0].scores]
    marks = {
        row.system: [Mark(one.mean, one.low, one.high, one.count) for one in row.scores] for row in breakdown.systems
    }
    # Those without dictionaries have no marks; the others keep their colors.
    places = {row.system: place for place, row in enumerate(metric.overall.systems)}
    return group_figure(labels, marks, places, (breakdown.by, metric_label(metric), "sentences"))


def word_figure(accuracies: Mapping[str, Sequence[WordAccuracy]]) -> Figure:
    """F-measure of words by their frequency in the training text, one mark a system."""
    labels = [group.label for group in next(iter(accuracies.values()))]
    marks = {
        system: [Mark(percent(group.f_measure), None, None, group.expected) for group in groups]
        for system, groups in accuracies.items()
    }
    places = {system: place for place, system in enumerate(accuracies)}
    names = ("occurrences in the training text", "F-measure, %", "words in the references")
    return group_figure(labels, marks, places, names)


def group_figure(
    labels: Sequence[str], marks: Mapping[str, Sequence[Mark]], places: Mapping[str, int], names: tuple[str, str, str]
) -> Figure:
    """Marks side by side for each group that has a value, its size below its label where all systems share it.

    Args:
        labels: of the groups.
        marks: of each system, one a group.
        places: of the systems among all of the study, which decide their colors.
        names: of the horizontal axis, of the vertical one, and of what a group consists of.
    """
    horizontal, vertical, unit = names
    kept = [group for group in range(len(labels)) if any(row[group].value is not None for row in marks.values())]
    ticks = [fill(labels[group], LABEL_LINE) for group in kept]
    sizes = {tuple(row[group].count for group in kept) for row in marks.values()}
    if len(sizes) == 1:
        ticks = [f"{tick}\n({count:,})" for tick, count in zip(ticks, sizes.pop())]
        horizontal += f"\n(in parentheses: {unit})"
    with style():
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.add_subplot()
        for row, (system, found) in enumerate(marks.items()):
            shift = (row - (len(marks) - 1) / 2) * 0.6 / len(marks)
            points = {x + shift: found[group] for x, group in enumerate(kept) if found[group].value is not None}
            draw_marks(axes, points, system, places[system])
        axes.set_xticks(range(len(kept)), ticks)
        axes.set_xlabel(horizontal)
        finish(figure, vertical)
    return figure


def draw_marks(axes: Axes, points: Mapping[float, Mark], system: str, place: int) -> None:
    """One system's marks with their intervals; an interval of few resamples need not reach the value."""
    values = [mark.value or 0.0 for mark in points.values()]
    ends = [(mark.low, mark.high) for mark in points.values()]
    below = [0.0 if low is None else max(0.0, value - low) for value, (low, _) in zip(values, ends)]
    above = [0.0 if high is None else max(0.0, high - value) for value, (_, high) in zip(values, ends)]
    drawn = axes.errorbar(
        list(points),
        values,
        [below, above],
        color=COLOURS[place % len(COLOURS)],
        marker=MARKERS[(place + place // len(COLOURS)) % len(MARKERS)],
        linestyle="none",
        capsize=2,
        label=system,
    )
    for part, artist in enumerate(drawn.get_children()):
        artist.set_gid(f"system-{place}-part-{part}")


def metric_label(metric: MetricEvaluation) -> str:
    """A metric's name, and which way is better where that is not up."""
    return metric.name + (" (lower is better)" if metric.lower_is_better else "")


def style() -> AbstractContextManager[None]:
    """Settings of every figure; dollar signs in names of systems are no formulas."""
    return rc_context({"font.size": 10.5, "font.family": font_families(), "text.parse_math": False})


def finish(figure: Figure, label: str) -> None:
    """Label, zero line, grid, and a legend below, for which the figure grows."""
    axes = figure.axes[0]
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    handles, names = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, names)) <= LONGEST_NAME // 2 else 1
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(names) // columns))
    short = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]
    figure.legend(handles, short, loc="outside lower center", ncols=columns, frameon=False, fontsize=9.5)
