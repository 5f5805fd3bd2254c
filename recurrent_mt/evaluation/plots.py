"""Scores by sentence length, number of unknown words and word frequency, as figures for disk and for the report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import nan
from pathlib import Path
from textwrap import fill

import pandas
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .analysis import FREQUENCY, LENGTH, UNKNOWN_WORDS, Analysis
from .figures import COLORS, LINES, MARKERS, font_families, save_figure, style_axes
from .records import Group, Record, nest_records, select_records
from .score_tables import name_groups, name_metric
from .words import BY_FREQUENCY, F_MEASURE

#: Inches; at this width the text is readable on a phone and in a column of a page. The legend's rows come on top.
WIDTH, HEIGHT, LEGEND_ROW = 4.6, 3.3, 0.24
#: Characters of a system's name in a legend, and of a group's label on one line.
LONGEST_NAME, LABEL_LINE = 36, 9
#: Beyond so many groups, their labels are smaller.
MANY_GROUPS = 6


@dataclass(frozen=True)
class Plot:
    """A figure that can be drawn from records: a metric, by what sentences or words are grouped by, see `Record`."""

    metric: str
    by: str
    group: str
    side: str

    @property
    def section(self) -> str:
        """Where it belongs, see `Analysis.tables`."""
        if self.by == BY_FREQUENCY:
            return FREQUENCY
        return LENGTH if self.group == Group.CURVE else UNKNOWN_WORDS

    @property
    def title(self) -> str:
        """What it shows."""
        if self.by == BY_FREQUENCY:
            return f"F-measure of words by {BY_FREQUENCY}"
        return f"{self.metric} by {name_groups(self.by, self.group, self.side)}"

    @property
    def file_name(self) -> str:
        """Without an ending."""
        groups = f"{self.side} length" if self.group == Group.CURVE else self.by
        name = FREQUENCY if self.by == BY_FREQUENCY else f"{self.metric} by {groups}"
        return re.sub("[^a-z0-9]+", "-", name.lower())

    def draw(self, records: pandas.DataFrame, window: int) -> Figure:
        """The figure; ``window`` is how many lengths a point covers."""
        if self.section == LENGTH:
            return draw_length(records, self, window)
        return draw_groups(records, self.metric, self.by)


def list_plots(records: pandas.DataFrame) -> list[Plot]:
    """Every plot that there are numbers for."""
    found = records.loc[records["n"] > 0, ["metric", "by", "group", "side"]].drop_duplicates()
    plots = [Plot(*row) for row in found.itertuples(index=False)]
    counted = Group.CURVE, Group.UNKNOWN_WORDS
    return [plot for plot in plots if (plot.group in counted and plot.side) or plot.metric == F_MEASURE]


def write_plots(analysis: Analysis, folder: str | Path) -> None:
    """Writes one SVG file for each figure of the analysis."""
    for plot in list_plots(analysis.records):
        figure = plot.draw(analysis.records, analysis.settings.window)
        save_figure(figure, Path(folder) / f"{plot.file_name}.svg")


def draw_length(records: pandas.DataFrame, plot: Plot, window: int) -> Figure:
    """A metric along length: a line for each system, its 95% interval as a band, and below how many sentences count."""
    curves = nest_records(select_records(records, metric=plot.metric, by=plot.by), "system", "bucket")
    first = next(iter(curves.values()))
    # A line has a gap at the lengths that were left out.
    lengths = range(min(map(int, first)), max(map(int, first)) + 1)
    with set_style():
        figure = Figure(figsize=(WIDTH, HEIGHT + 0.5), layout="constrained")
        axes, counts = figure.subplots(2, 1, sharex=True, height_ratios=[6, 1])
        for index, (system, points) in enumerate(curves.items()):
            color, line = COLORS[index % len(COLORS)], LINES[index // len(COLORS) % len(LINES)]
            means, lows, highs = (
                [replace_none(getattr(points.get(str(length)), name, None)) for length in lengths]
                for name in ("value", "low", "high")
            )
            dot = "." if len(lengths) == 1 else ""
            axes.plot(lengths, means, line, marker=dot, color=color, label=system, gid=f"system-{index}-line")
            band = axes.fill_between(lengths, lows, highs, color=color, alpha=0.15, linewidth=0)
            band.set_gid(f"system-{index}-band")
        counts.bar(list(map(int, first)), [point.n for point in first.values()], color="#b0b8c4")
        counts.set_ylabel("sentences", fontsize=9)
        counts.spines[["top", "right"]].set_visible(False)
        words = "words in source and reference" if plot.side == "both" else f"{plot.side} words"
        counts.set_xlabel(f"{words} (window of {window})")
        finish_figure(figure, name_metric(plot.metric))
    return figure


def replace_none(number: float | None) -> float:
    """The number; not-a-number, at which a line has a gap, for None."""
    return nan if number is None else number


def draw_groups(records: pandas.DataFrame, metric: str, by: str) -> Figure:
    """A mark a system, with its 95% interval, for each group that has a value.

    A system's place among all records decides its color, whichever others have marks. A group's size is below its label
    where all systems share it.
    """
    if by == BY_FREQUENCY:
        horizontal, vertical, unit = "occurrences in the training text", "F-measure, %", "words in the references"
    else:
        horizontal, vertical, unit = by, name_metric(metric), "sentences"
    chosen = select_records(records, metric=metric, by=by)
    marks, places = nest_records(chosen, "system", "bucket"), list(records["system"].unique())
    known = {record.bucket for record in chosen if record.value is not None}
    kept = [label for label in next(iter(marks.values())) if label in known]
    ticks = [fill(label, LABEL_LINE) for label in kept]
    sizes = {tuple(row[label].n for label in kept) for row in marks.values()}
    if len(sizes) == 1:
        ticks = [f"{tick}\n({count:,})" for tick, count in zip(ticks, sizes.pop())]
        horizontal += f"\n(in parentheses: {unit})"
    with set_style():
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.add_subplot()
        for index, (system, row) in enumerate(marks.items()):
            shift = (index - (len(marks) - 1) / 2) * 0.6 / len(marks)
            points = {x + shift: row[label] for x, label in enumerate(kept) if row[label].value is not None}
            draw_marks(axes, points, system, places.index(system))
        # Labels of neighbors must not touch.
        axes.set_xticks(range(len(kept)), ticks, fontsize=9 if len(kept) > MANY_GROUPS else None)
        axes.set_xlabel(horizontal)
        finish_figure(figure, vertical)
    return figure


def draw_marks(axes: Axes, points: Mapping[float, Record], system: str, place: int) -> None:
    """One system's marks with their intervals; an interval of few resamples need not reach the value."""
    values = [one.value or 0.0 for one in points.values()]
    ends = [(one.low, one.high) for one in points.values()]
    below = [0.0 if low is None else max(0.0, value - low) for value, (low, _) in zip(values, ends)]
    above = [0.0 if high is None else max(0.0, high - value) for value, (_, high) in zip(values, ends)]
    drawn = axes.errorbar(
        list(points),
        values,
        [below, above],
        color=COLORS[place % len(COLORS)],
        marker=MARKERS[(place + place // len(COLORS)) % len(MARKERS)],
        linestyle="none",
        capsize=2,
        label=system,
    )
    for part, artist in enumerate(drawn.get_children()):
        artist.set_gid(f"system-{place}-part-{part}")


def set_style() -> AbstractContextManager[None]:
    """Settings of every figure; dollar signs in names of systems are no formulas."""
    return rc_context({"font.size": 10.5, "font.family": font_families(), "text.parse_math": False})


def finish_figure(figure: Figure, label: str) -> None:
    """Label, zero line, grid, and a legend below, for which the figure grows."""
    axes = figure.axes[0]
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    style_axes(axes)
    handles, names = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, names)) <= LONGEST_NAME // 2 else 1
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(names) // columns))
    short = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]
    figure.legend(handles, short, loc="outside lower center", ncols=columns, frameon=False, fontsize=9.5)
