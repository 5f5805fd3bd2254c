"""An ablation's cells: scores and their distance from the base, sizes, speeds, failures; as a table and as plots."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from os import PathLike
from pathlib import Path

import pandas
from matplotlib.figure import Figure

from .figures import COLORS, new_axes
from .records import ALL, Record, make_frame, select_records
from .run_folder import RunFolder, read_runs
from .score_tables import list_signatures, name_metric, reading_notes, score_columns
from .scores import INTERVAL, Scores, Settings, score_systems
from .tables import UNKNOWN, Cell, Table, write_results
from .test_set import System
from .training import (
    COLUMNS,
    PARAMETERS,
    TrainedSystem,
    cost_cells,
    find_costs,
    read_trained_system,
    summarize_seeds,
)

OPERATIONS = "operations a token"
#: Inches, in the figure of all cells.
HEIGHT_OF_A_CELL = 0.32
#: Degrees of freedom -> standard errors from which on a difference is called one: the 97.5% quantile of Student's t.
#: Between two entries, that of fewer degrees holds.
FAR = {
    **{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228},
    **{12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000},
}
COSTS = {
    **{key: COLUMNS[key] for key in ("parameters", "updates", "valid. loss")},
    "MFLOP a token": (OPERATIONS, "{:.2f}", 1e6),
    **{key: COLUMNS[key] for key in ("words/s", "sentences/s")},
}
COST_NOTE = (
    "Validation loss: bits a token. MFLOP a token: operations of matrix products and convolutions for a target token, "
    "its translation given, the encoder's share included. Words/s: target tokens in training. Sentences/s: in "
    "translation. Both were measured while the cells ran: what else the machine did is in them."
)


@dataclass(frozen=True)
class SeedNoise:
    """The spread of scores among seeds of one cell.

    Two or three seeds say little of their own cell's spread; under the assumption that all cells have the same, all of
    them estimate it together.
    """

    deviation: float  # pooled standard deviation
    degrees: int  # of freedom that it rests on

    @property
    def far(self) -> float:
        """How many standard errors of it make a difference: more where few seeds say what the error is."""
        return FAR[max(degrees for degrees in FAR if degrees <= self.degrees)]

    def stands_out(self, difference: float, seeds: Sequence[int]) -> bool:
        """Whether two means over so many seeds are further apart than `far` standard errors of their difference."""
        return abs(difference) > self.far * self.deviation * sqrt(sum(1 / count for count in seeds))


def pool_seed_noise(records: pandas.DataFrame, metric: str) -> SeedNoise | None:
    """Pools the cells; None if none has two seeds."""
    seeds = count_seeds_of(records, metric)
    found = select_records(records, metric=metric, by=ALL)
    spread = [(seeds[record.system] - 1, record.sd) for record in found if record.sd is not None]
    degrees = sum(freedom for freedom, _ in spread)
    if not degrees:
        return None
    return SeedNoise(sqrt(sum(freedom * deviation**2 for freedom, deviation in spread) / degrees), degrees)


def count_seeds_of(records: pandas.DataFrame, metric: str) -> dict[str, int]:
    """How many seeds of each system have a score for a metric."""
    chosen = records[(records["metric"] == metric) & (records["by"] == ALL) & (records["seed"] != "")]
    return {str(name): int(count) for name, count in chosen.groupby("system").size().items()}


@dataclass(frozen=True)
class AblationResults:
    """An ablation's systems and their scores."""

    name: str  # of the ablation
    base: str  # the cell that the others are compared with
    cells: Sequence[TrainedSystem]  # in the order asked for
    #: every number: scores of the cells that have a translation (none if the base has none), and costs
    records: pandas.DataFrame
    signatures: Mapping[str, str]  # of the metrics; empty if the base has no translation

    def table(self) -> Table:
        """One row a cell, in the order asked for."""
        names = [cell.name for cell in self.cells]
        columns = score_columns(self.records, list(self.signatures), names)
        header = list(map(name_metric, self.signatures))
        noise = None
        if self.signatures:
            metric = next(iter(self.signatures))
            noise = pool_seed_noise(self.records, metric)
            columns.append(self.measure_distances(metric, noise))
            header.append(f"{metric} against {self.base}")
        rows = []
        for cell, scores in zip(self.cells, zip(*columns) if columns else [()] * len(self.cells)):
            if scores and str(scores[0]) == UNKNOWN:
                scores = (Cell(cell.status), *scores[1:])
            rows.append([*scores, *cost_cells(find_costs(self.records, cell.name), COSTS)])
        notes = list(self.notes(noise))
        signatures = list_signatures(self.signatures)
        return Table(f"Ablation: {self.name}", ["Cell", *header, *COSTS], names, rows, notes, signatures, "column")

    def measure_distances(self, metric: str, noise: SeedNoise | None) -> list[Cell]:
        """Each cell's distance from the base, with a dagger beyond the noise of seeds."""
        values = {one.system: one.value for one in select_records(self.records, metric=metric, by=ALL)}
        seeds = count_seeds_of(self.records, metric)
        base, cells = self.base, []
        for cell in self.cells:
            value, expected = values.get(cell.name), values.get(base)
            if cell.name == base or value is None or expected is None:
                cells.append(Cell(UNKNOWN))
                continue
            far = noise and noise.stands_out(value - expected, [seeds[cell.name], seeds[base]])
            cells.append(Cell(f"{value - expected:+.2f}", "†" if far else ""))
        return cells

    def notes(self, noise: SeedNoise | None) -> Iterator[str]:
        """What has to be known to read the table, and what failed."""
        for cell in self.cells:
            yield from cell.failure_notes
        if not self.signatures:
            yield f"No scores: the base, {self.base}, has no translation yet."
            return
        yield from reading_notes(self.records, self.base, by=ALL)
        if noise:
            yield (
                f"†: further from {self.base} than {noise.far:.2f} standard errors of the seeds (Student's t, "
                f"two-sided 5%); standard deviation of {next(iter(self.signatures))} among seeds, over all cells: "
                f"{noise.deviation:.2f} ({noise.degrees} degrees of freedom)."
            )
        yield COST_NOTE

    def write(self, prefix: str | PathLike[str]) -> None:
        """Writes ``PREFIX.txt``, ``PREFIX.md`` and ``PREFIX.json``."""
        cells = [{"name": cell.name, "failures": cell.failures} for cell in self.cells]
        context = {"baseline": self.base, "cells": cells, "signatures": dict(self.signatures)}
        write_results(prefix, [self.table()], self.records, **context)


def read_results(
    name: str, cells: Sequence[str], folders: Sequence[str | PathLike[str]], *, base: str, resamples: int, jobs: int = 1
) -> AblationResults:
    """Reads what the systems of an ablation left in its run folders, one for each segmentation.

    Raises:
        FileError: if a folder is not that of a run, or a log is damaged.
        ValueError: if the folders have different test sets, or a cell is in two of them.
    """
    trained, records = [], []
    for cell in cells:
        found = [path for folder in folders if (path := Path(folder) / "systems" / cell).is_dir()]
        if len(found) > 1:
            raise ValueError(f"cell {cell} is in two folders: {found[0]} and {found[1]}")
        trained.append(read_trained_system(cell, found[0]) if found else TrainedSystem(cell))
        records += [*trained[-1].records, *(count for folder in found for count in read_operations(cell, folder))]
    systems = read_systems(cells, folders, base=base)
    scores = Scores(make_frame([]), {})
    if systems and systems[0].name == base:
        test_set, _, _ = read_runs([folder for folder in folders if has_translations(folder)])
        scores = score_systems(test_set, systems, Settings(detailed=(), resamples=resamples, jobs=jobs))
    frame = pandas.concat([scores.records, make_frame(records)], ignore_index=True)
    return AblationResults(name, base, trained, frame, scores.signatures)


def has_translations(folder: str | PathLike[str]) -> bool:
    """Whether a system of a run folder has translated the test set."""
    return any((Path(folder) / "systems").glob("*/seed-*/test.detokenized"))


def read_systems(cells: Sequence[str], folders: Sequence[str | PathLike[str]], *, base: str) -> list[System]:
    """The cells that have a translation, the base first."""
    found = {}
    for folder in filter(has_translations, folders):
        found.update({system.name: system for system in RunFolder(folder).systems()})
    order = [base, *(name for name in cells if name != base)]
    return [found[name] for name in order if name in found]


def read_operations(name: str, folder: Path) -> Iterator[Record]:
    """What counted a cell's operations has left for each seed, and their mean; nothing where it has not run."""
    files = sorted(folder.glob("seed-*/operations.json"))
    counts = [json.loads(file.read_text(encoding="utf-8"))["per_token"] for file in files]
    if counts:
        seeds = [file.parent.name.removeprefix("seed-") for file in files]
        yield from summarize_seeds(name, OPERATIONS, seeds, counts)


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
    axes.set_xlabel(f"{metric}: mean, each seed, {INTERVAL}; dashed: {base}")
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
