"""Scores by sentence length, unknown words and word frequency as figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .analysis import FREQUENCY, LENGTH, UNKNOWN_WORDS, Analysis
from .figures import COLORS, LINES, choose_mark, own_legend, save_figure, set_style, style_axes
from .tables import ALL, Group, name_groups, name_metric, pivot, select
from .words import BY_FREQUENCY, F_MEASURE

#: Inches; at this width the text is readable on a phone and in a column of a page. The legend's rows come on top.
WIDTH, HEIGHT, LEGEND_ROW = 4.6, 3.3, 0.24
#: Points.
LETTERS = 10.5
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
        chosen = select(records, metric=self.metric, by=self.by)
        if self.by == BY_FREQUENCY:
            return draw_groups(
                records, chosen, "occurrences in the training text", "F-measure, %", "words in the references"
            )
        return draw_groups(records, chosen, self.by, name_metric(self.metric))


def list_plots(records: pandas.DataFrame) -> list[Plot]:
    """Every plot that there are numbers for."""
    found = records.loc[records["n"] > 0, ["metric", "by", "group", "side"]].drop_duplicates()
    plots = [Plot(*row) for row in found.itertuples(index=False)]
    counted = Group.CURVE, Group.UNKNOWN_WORDS
    return [plot for plot in plots if (plot.group in counted and plot.side) or plot.metric == F_MEASURE]


def draw(analysis: Analysis, name: str) -> Figure:
    """One figure of the analysis, by the name of the file that `write_plots` gives it, such as bleu-by-source-length.

    Raises:
        ValueError: naming the figures that there are.
    """
    plots = {plot.file_name: plot for plot in list_plots(analysis.records)}
    if name not in plots:
        raise ValueError(f"there is no figure {name}: this analysis has {', '.join(plots) or 'none'}")
    return plots[name].draw(analysis.records, analysis.settings.window)


def write_plots(analysis: Analysis, folder: str | Path) -> None:
    """Writes one SVG file for each figure of the analysis."""
    for plot in list_plots(analysis.records):
        save_figure(plot.draw(analysis.records, analysis.settings.window), Path(folder) / f"{plot.file_name}.svg")


@set_style(LETTERS)
def draw_length(records: pandas.DataFrame, plot: Plot, window: int) -> Figure:
    """A metric along length: a line for each system, its 95% interval as a band, and below how many sentences count."""
    chosen = select(records, metric=plot.metric, by=plot.by)
    chosen = chosen.assign(length=chosen["bucket"].astype(int))
    sizes = chosen.groupby("length")["n"].first()
    # A line has a gap at the lengths that were left out.
    lengths = range(sizes.index.min(), sizes.index.max() + 1)
    curves = {name: pivot(chosen, "length", "system", name).reindex(lengths) for name in ("value", "low", "high")}
    figure = Figure(figsize=(WIDTH, HEIGHT + 0.5), layout="constrained")
    axes, counts = figure.subplots(2, 1, sharex=True, height_ratios=[6, 1])
    for index, system in enumerate(curves["value"]):
        color, line = COLORS[index % len(COLORS)], LINES[index // len(COLORS) % len(LINES)]
        means, lows, highs = (curve[system] for curve in curves.values())
        dot = "." if len(lengths) == 1 else ""
        axes.plot(lengths, means, line, marker=dot, color=color, label=system, gid=f"system-{index}-line")
        axes.fill_between(lengths, lows, highs, color=color, alpha=0.15, linewidth=0, gid=f"system-{index}-band")
    counts.bar(sizes.index, sizes, color="#b0b8c4")
    counts.set_ylabel("sentences", fontsize=9)
    counts.spines[["top", "right"]].set_visible(False)
    words = "words in source and reference" if plot.side == "both" else f"{plot.side} words"
    counts.set_xlabel(f"{words} (window of {window})")
    counts.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    finish_figure(figure, name_metric(plot.metric))
    return figure


def draw_overview(records: pandas.DataFrame, metric: str) -> Figure:
    """The metric on all sentences and, where it is broken down, on those of each length."""
    found = records[(records["metric"] == metric) & (records["seed"] == "")]
    lengths = found.loc[found["group"] == Group.LENGTH, "side"]
    side = lengths.iloc[0] if len(lengths) else ""
    chosen = found[(found["by"] == ALL) | ((found["group"] == Group.LENGTH) & (found["side"] == side))]
    figure = draw_groups(records, chosen, f"{side} words" if side else "sentences", name_metric(metric))
    if side:
        figure.axes[0].axvline(0.5, color="#b0b8c4", linewidth=1)
    return figure


@set_style(LETTERS)
def draw_groups(
    records: pandas.DataFrame, chosen: pandas.DataFrame, horizontal: str, vertical: str, unit: str = "sentences"
) -> Figure:
    """A mark a system, with its 95% interval, for each group that has a value.

    A system's place among all records decides its color, whichever others have marks. A group's size is below its label
    where all systems share it.

    Args:
        records: all there are.
        chosen: those to draw, of one metric.
        horizontal: what the groups are of.
        vertical: what the values are.
        unit: what a group's size counts.
    """
    places = list(records["system"].unique())
    values, sizes = (pivot(chosen, "bucket", "system", name) for name in ("value", "n"))
    kept = list(values.index[values.notna().any(axis=1)])
    ticks = [fill(label, LABEL_LINE) for label in kept]
    sizes = sizes.loc[kept]
    if chosen["shared"].all():
        ticks = [f"{tick}\n({count:,.0f})" for tick, count in zip(ticks, sizes.iloc[:, 0])]
        horizontal += f"\n(in parentheses: {unit})"
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    for index, system in enumerate(values):
        shift = (index - (values.shape[1] - 1) / 2) * 0.6 / values.shape[1]
        points = chosen[(chosen["system"] == system) & chosen["value"].notna()]
        draw_marks(axes, points["bucket"].map(kept.index) + shift, points, system, places.index(system))
    # Labels of neighbors must not touch.
    axes.set_xticks(range(len(kept)), ticks, fontsize=9 if len(kept) > MANY_GROUPS else None)
    axes.set_xlabel(horizontal)
    finish_figure(figure, vertical)
    return figure


def draw_marks(axes: Axes, places: pandas.Series, points: pandas.DataFrame, system: str, place: int) -> None:
    """One system's marks with their intervals; an interval of few resamples need not reach the value."""
    # Without an interval, the mark has no bar.
    below, above = points["value"] - points["low"], points["high"] - points["value"]
    drawn = axes.errorbar(
        places.to_numpy(),
        points["value"].to_numpy(),
        [side.fillna(0).clip(lower=0).to_numpy() for side in (below, above)],
        **choose_mark(place),
        linestyle="none",
        capsize=2,
        label=system,
    )
    for part, artist in enumerate(drawn.get_children()):
        artist.set_gid(f"system-{place}-part-{part}")


def finish_figure(figure: Figure, label: str) -> None:
    """Label, zero line, grid, and a legend below, for which the figure grows."""
    axes = figure.axes[0]
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    style_axes(axes)
    handles: list[Any] = [*axes.containers] or [*axes.lines]
    names = [str(handle.get_label()) for handle in handles]
    # Of marks with intervals, the marks: a legend's entry is then one line.
    lines = [container[0] for container in axes.containers] or [*axes.lines]
    columns = 2 if max(map(len, names)) <= LONGEST_NAME // 2 else 1
    shown = [fill(name, LONGEST_NAME) for name in names]
    rows = -(-len(names) // columns) + sum(name.count("\n") for name in shown)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * rows)
    legend = figure.legend(lines, shown, loc="outside lower center", ncols=columns, frameon=False, fontsize=9.5)
    own_legend(legend, lines)
