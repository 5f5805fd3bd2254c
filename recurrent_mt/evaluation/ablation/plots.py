"""Plots of an ablation: the cells beside each other, and their score against what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from ..evaluation import SystemScores
from ..figures import COLORS
from .cells import Cell, Results

HEIGHT_OF_A_CELL = 0.32


def figures(results: Results) -> Iterator[tuple[str, Figure]]:
    """(name, figure) of every plot; none without scores."""
    if not results.metrics:
        return
    rows = {row.system: row for row in results.metrics[0].overall.systems}
    scored = [(cell, rows[cell.name]) for cell in results.cells if cell.name in rows]
    name = results.metrics[0].name
    yield "cells", cells_figure(scored, results.plan.base, name)
    sized = [(cell.facts.parameters / 1e6, (cell, row)) for cell, row in scored if cell.facts]
    if sized:
        yield "by-parameters", cost_figure(sized, "parameters, millions", name)
    counted = [(cell.operations / 1e6, (cell, row)) for cell, row in scored if cell.operations]
    if counted:
        yield "by-operations", cost_figure(counted, "MFLOP a target token", name)


def cells_figure(scored: list[tuple[Cell, SystemScores]], base: str, metric: str) -> Figure:
    """One line a cell: its mean, its interval over sentences, a mark for each seed; the base's mean as a line."""
    figure = Figure(figsize=(6.4, 1.0 + HEIGHT_OF_A_CELL * len(scored)), layout="constrained")
    axes = figure.add_subplot()
    for height, (cell, row) in enumerate(scored):
        score = row.scores[0]
        if score.low is not None and score.high is not None:
            axes.plot([score.low, score.high], [height, height], color=COLORS[0], linewidth=5, alpha=0.25)
        seeds = list(score.by_seed.values())
        axes.plot(seeds, [height] * len(seeds), "|", color=COLORS[0], markersize=9)
        axes.plot([score.mean], [height], "o", color=COLORS[0], markersize=5)
        if cell.name == base:
            axes.axvline(score.mean or 0.0, color=COLORS[1], linewidth=1, linestyle="--")
    axes.set_yticks(range(len(scored)), [cell.name for cell, _ in scored])
    axes.set_ylim(len(scored) - 0.5, -0.5)
    axes.set_xlabel(f"{metric}: mean, each seed, 95% interval over sentences; dashed: {base}")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def cost_figure(points: list[tuple[float, tuple[Cell, SystemScores]]], title: str, metric: str) -> Figure:
    """Score against cost, one named point a cell."""
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for cost, (cell, row) in points:
        mean = row.scores[0].mean or 0.0
        axes.plot([cost], [mean], "o", color=COLORS[0], markersize=5)
        axes.annotate(cell.name, (cost, mean), xytext=(5, 3), textcoords="offset points", fontsize="small")
    axes.set_xlabel(title)
    axes.set_ylabel(metric)
    axes.margins(x=0.15, y=0.1)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
