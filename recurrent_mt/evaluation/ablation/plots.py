"""Plots of an ablation: the cells beside each other, and their score against what they cost."""

from __future__ import annotations

from collections.abc import Iterator

import pandas
from matplotlib.figure import Figure

from ..figures import COLORS, new_axes
from ..records import ALL, select_records
from ..training import PARAMETERS, find_costs
from .results import OPERATIONS, AblationResults

HEIGHT_OF_A_CELL = 0.32


def draw_plots(results: AblationResults) -> Iterator[tuple[str, Figure]]:
    """(name, figure) of every plot; none without scores."""
    if not results.signatures:
        return
    metric = next(iter(results.signatures))
    means = {one.system: one.value or 0.0 for one in select_records(results.records, metric=metric, by=ALL)}
    names = [cell.name for cell in results.cells if cell.name in means]
    yield "cells", cells_figure(results.records, names, results.base, metric)
    for plot, cost, title in (
        ("by-parameters", PARAMETERS, "parameters, millions"),
        ("by-operations", OPERATIONS, "MFLOP a target token"),
    ):
        costs = {name: find_costs(results.records, name).get(cost) for name in names}
        points = {name: (value / 1e6, means[name]) for name, value in costs.items() if value}
        if points:
            yield plot, cost_figure(points, title, metric)


def cells_figure(records: pandas.DataFrame, names: list[str], base: str, metric: str) -> Figure:
    """One line a cell: its mean, its interval over sentences, a mark for each seed; the base's mean as a line."""
    figure, axes = new_axes(6.4, 1.0 + HEIGHT_OF_A_CELL * len(names))
    for height, name in enumerate(names):
        rows = records[(records["system"] == name) & (records["metric"] == metric) & (records["by"] == ALL)]
        (total,) = select_records(rows)
        if total.low is not None and total.high is not None:
            axes.plot([total.low, total.high], [height, height], color=COLORS[0], linewidth=5, alpha=0.25)
        seeds = list(rows.loc[rows["seed"] != "", "value"])
        axes.plot(seeds, [height] * len(seeds), "|", color=COLORS[0], markersize=9)
        axes.plot([total.value or 0.0], [height], "o", color=COLORS[0], markersize=5)
        if name == base:
            axes.axvline(total.value or 0.0, color=COLORS[1], linewidth=1, linestyle="--")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(f"{metric}: mean, each seed, 95% interval over sentences; dashed: {base}")
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def cost_figure(points: dict[str, tuple[float, float]], title: str, metric: str) -> Figure:
    """Score against cost, one named point a cell."""
    figure, axes = new_axes(6.4, 4.2)
    for name, point in points.items():
        axes.plot(*[[number] for number in point], "o", color=COLORS[0], markersize=5)
        axes.annotate(name, point, xytext=(5, 3), textcoords="offset points", fontsize="small")
    axes.set_xlabel(title)
    axes.set_ylabel(metric)
    axes.margins(x=0.15, y=0.1)
    return figure
