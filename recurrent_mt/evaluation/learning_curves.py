"""Validation loss against updates: how fast systems learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

import pandas
from matplotlib.figure import Figure

from ..text_files import FileError
from .figures import COLORS, MARKERS, new_axes
from .tables import Cell, Table, format_number
from .train_log import read_train_log


def read_learning_curves(logs: Sequence[str | PathLike[str]], *, every: int = 1) -> pandas.DataFrame:
    """Validation losses of one system, bits a token: a row an update, of those that are a multiple, a column a log.

    Raises:
        FileError: if a log is damaged, or no validation is common to all of them.
    """
    seeds = [read_train_log(log).validations for log in logs]
    shared = [update for update in sorted(set.intersection(*map(set, seeds))) if update % every == 0]
    if not shared:
        others = f" that the {len(logs) - 1} other logs have as well" if len(logs) > 1 else ""
        raise FileError(logs[0], f"no validation at a multiple of {every} updates{others}")
    return pandas.DataFrame([[losses[update] for losses in seeds] for update in shared], index=shared)


def learning_curve_table(curves: Mapping[str, pandas.DataFrame]) -> Table:
    """A row a system, a column an update; means of the seeds ± their standard deviation."""
    updates = sorted({update for curve in curves.values() for update in curve.index})
    rows = []
    for curve in curves.values():
        means, deviations = curve.mean(axis=1), curve.std(axis=1)
        cells = [Cell(str(curve.shape[1]))]
        for update in updates:
            detail = f" ± {deviations[update]:.2f}" if update in curve.index and curve.shape[1] > 1 else ""
            cells.append(Cell(format_number(means.get(update), ".2f"), detail))
        rows.append(cells)
    header = ["System", "seeds", *(f"{update:,}" for update in updates)]
    return Table("Validation loss", header, list(curves), rows, ["Bits a token, after so many updates."])


def draw_learning_curves(curves: Mapping[str, pandas.DataFrame]) -> Figure:
    """A line a system: the mean of its seeds; a band from the lowest to the highest."""
    figure, axes = new_axes()
    for index, (name, curve) in enumerate(curves.items()):
        color, marker = COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)]
        axes.plot(curve.index, curve.mean(axis=1), marker=marker, markersize=4, color=color, label=name)
        axes.fill_between(curve.index, curve.min(axis=1), curve.max(axis=1), color=color, alpha=0.2, linewidth=0)
    axes.set_xlabel("updates")
    axes.set_ylabel("validation loss, bits a token")
    axes.legend(frameon=False)
    return figure
