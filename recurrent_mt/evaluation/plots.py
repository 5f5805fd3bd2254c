"""Scores by sentence length, number of unknown words and word frequency, as figures for disk and for the report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from math import nan
from pathlib import Path
from textwrap import fill

import pandas
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .analysis import Analysis
from .buckets import ALONG, SIDES
from .figures import COLORS, MARKERS, font_families, save_figure
from .records import Record, select_records
from .score_tables import name_metric
from .words import F_MEASURE

#: Of systems beyond the colors.
LINES = ("-", "--", ":", "-.")
#: Inches; at this width the text is readable on a phone and in a column of a page. The legend's rows come on top.
WIDTH, HEIGHT, LEGEND_ROW = 4.6, 3.3, 0.24
#: Characters of a system's name in a legend, and of a group's label on one line.
LONGEST_NAME, LABEL_LINE = 36, 9


def write_plots(analysis: Analysis, folder: str | Path) -> list[Path]:
    """Writes one SVG file for each figure of the analysis."""
    paths = []
    for name, figure in draw_plots(analysis):
        path = Path(folder) / f"{name}.svg"
        save_figure(figure, path)
        paths.append(path)
    return paths


def draw_plots(analysis: Analysis) -> Iterator[tuple[str, Figure]]:
    """(name, figure) of every plot that the analysis has numbers for."""
    records = analysis.records
    for metric in analysis.signatures:
        for side in length_sides(records, metric):
            yield f"{metric.lower()}-by-{side}-length", length_figure(records, metric, side, analysis.settings.window)
        for by in unknown_word_counts(records, metric):
            name = re.sub("[^a-z0-9]+", "-", f"{metric} by {by}".lower())
            yield name, unknown_figure(records, metric, by)
    if analysis.knows_frequencies:
        yield "words-by-frequency", word_figure(records)


def length_sides(records: pandas.DataFrame, metric: str) -> list[str]:
    """The sides for which a metric has a curve with at least one point."""
    known = set(records.loc[records["metric"] == metric, "by"])
    return [side for side in SIDES if ALONG.format(side) in known]


def unknown_word_counts(records: pandas.DataFrame, metric: str) -> list[str]:
    """The groupings of a metric by how many unknown words a sentence has."""
    groupings = records.loc[records["metric"] == metric, "by"].unique()
    return [by for by in groupings if by.startswith("unknown words, ")]


def length_figure(records: pandas.DataFrame, metric: str, side: str, window: int) -> Figure:
    """A metric along length: a line for each system, its 95% interval as a band, and below how many sentences count."""
    curves = group_by_system(select_records(records, metric=metric, by=ALONG.format(side)))
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
        words = "words in source and reference" if side == "both" else f"{side} words"
        counts.set_xlabel(f"{words} (window of {window})")
        finish_figure(figure, name_metric(metric))
    return figure


def group_by_system(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    """System to bucket to record, in order."""
    found: dict[str, dict[str, Record]] = {}
    for record in records:
        found.setdefault(record.system, {})[record.bucket] = record
    return found


def replace_none(number: float | None) -> float:
    """The number; not-a-number, at which a line has a gap, for None."""
    return nan if number is None else number


def unknown_figure(records: pandas.DataFrame, metric: str, by: str) -> Figure:
    """A metric by number of unknown words, one mark a system, with 95% intervals."""
    return group_figure(records, {"metric": metric, "by": by}, (by, name_metric(metric), "sentences"))


def word_figure(records: pandas.DataFrame) -> Figure:
    """F-measure of words by their frequency in the training text, one mark a system."""
    names = ("occurrences in the training text", "F-measure, %", "words in the references")
    return group_figure(records, {"metric": F_MEASURE}, names)


def group_figure(records: pandas.DataFrame, columns: Mapping[str, str], names: tuple[str, str, str]) -> Figure:
    """Marks side by side for each group that has a value, its size below its label where all systems share it.

    Args:
        records: of all systems: a system's place among them decides its color, whichever others have marks.
        columns: which of the records to draw.
        names: of the horizontal axis, of the vertical one, and of what a group consists of.
    """
    horizontal, vertical, unit = names
    chosen = select_records(records, **columns)
    marks, places = group_by_system(chosen), list(records["system"].unique())
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
        axes.set_xticks(range(len(kept)), ticks)
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
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    handles, names = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, names)) <= LONGEST_NAME // 2 else 1
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(names) // columns))
    short = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]
    figure.legend(handles, short, loc="outside lower center", ncols=columns, frameon=False, fontsize=9.5)
