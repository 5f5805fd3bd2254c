"""What became of a plan's cells: scores, sizes, speeds, and failures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..evaluation import MetricEvaluation, Settings, evaluate
from ..outcome import Outcome, read_outcome
from ..run_folder import RunFolder
from ..study import read_runs
from ..test_set import System
from .plan import Plan


@dataclass(frozen=True)
class Cell(Outcome):
    """One cell of a plan.

    Attributes:
        operations: a target token; None if they were not counted.
    """

    operations: float | None = None


@dataclass(frozen=True)
class Results:
    """All cells.

    Attributes:
        plan: that they are of.
        cells: in the plan's order.
        metrics: scores of the cells that have a translation, the base first; empty if the base has none.
    """

    plan: Plan
    cells: Sequence[Cell]
    metrics: Sequence[MetricEvaluation]


def read_results(plan: Plan, folders: Sequence[str | PathLike[str]], *, resamples: int, jobs: int = 1) -> Results:
    """Reads what `scripts/ablation.sh` left.

    Args:
        plan: that was run.
        folders: run folders, one for each segmentation.
        resamples: of the bootstrap.
        jobs: processes that count.

    Raises:
        FileError: if a folder is not that of a run, or a log is damaged.
        ValueError: if the folders have different test sets, or a cell is in two of them.
    """
    places = {name: cell_folders(name, folders) for name in plan.cells}
    for name, found in places.items():
        if len(found) > 1:
            raise ValueError(f"cell {name} is in two folders: {found[0]} and {found[1]}")
    cells = [read_cell(name, found[0] if found else None) for name, found in places.items()]
    systems = systems_of(plan, folders)
    metrics: Sequence[MetricEvaluation] = []
    if systems and systems[0].name == plan.base:
        test_set, _, _ = read_runs(folders)
        metrics = evaluate(test_set, systems, Settings(detailed=(), resamples=resamples, jobs=jobs))
    return Results(plan, cells, metrics)


def cell_folders(name: str, folders: Sequence[str | PathLike[str]]) -> list[Path]:
    """Where a cell is."""
    return [path for folder in folders if (path := Path(folder) / "systems" / name).is_dir()]


def systems_of(plan: Plan, folders: Sequence[str | PathLike[str]]) -> list[System]:
    """The plan's cells that have a translation, the base first; others of the folders belong to other plans."""
    found = {}
    for folder in folders:
        if any((RunFolder(folder).path / "systems").glob("*/seed-*/test.detokenized")):
            found.update({system.name: system for system in RunFolder(folder).systems()})
    order = [plan.base, *(name for name in plan.cells if name != plan.base)]
    return [found[name] for name in order if name in found]


def read_cell(name: str, folder: Path | None) -> Cell:
    """One cell from its folder.

    Raises:
        FileError: if a log is damaged.
        ValueError: if its seeds are models of different size.
    """
    if folder is None:
        return Cell(name)
    outcome = read_outcome(name, folder)
    counts = [
        json.loads(file.read_text(encoding="utf-8"))["per_token"] for file in folder.glob("seed-*/operations.json")
    ]
    return Cell(name, outcome.facts, outcome.failures, sum(counts) / len(counts) if counts else None)
