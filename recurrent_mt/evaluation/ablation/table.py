"""The table of an ablation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from ..evaluation_tables import TitledTable, describe, reading_notes
from ..table import format_number
from .cells import Cell, Results
from .seed_noise import SeedNoise, seed_noise

COSTS = ("parameters", "MFLOP a token", "words/s", "sentences/s")
COST_NOTE = (
    "MFLOP a token: operations of matrix products and convolutions for a target token, its translation given, the "
    "encoder's share included. Words/s: target tokens in training. Sentences/s: in translation. Both as they were "
    "while the cells ran: what else the machine did is in them."
)


def ablation_table(results: Results) -> TitledTable:
    """One row a cell, in the plan's order."""
    names = [metric.name + (" (lower is better)" if metric.lower_is_better else "") for metric in results.metrics]
    noise = seed_noise([row.scores[0] for row in results.metrics[0].overall.systems]) if results.metrics else None
    header = ["Cell", *names, *([f"{results.metrics[0].name} against {results.plan.base}"] if names else []), *COSTS]
    rows = [[cell.name, *quality(cell, results, noise), *costs(cell)] for cell in results.cells]
    return TitledTable(f"Ablation: {results.plan.name}", [header, *rows], list(notes(results, noise)))


def quality(cell: Cell, results: Results, noise: SeedNoise | None) -> list[str]:
    """The scores of a cell and its distance from the base."""
    rows = [metric.overall.row(cell.name) for metric in results.metrics]
    if not rows:
        return []
    if not all(rows):
        return ["failed" if cell.failures else "not yet", *["–"] * len(rows)]
    return [
        *(describe(row.scores[0], row.comparisons[0]) for row in rows if row),
        distance(cell, results, noise),
    ]


def distance(cell: Cell, results: Results, noise: SeedNoise | None) -> str:
    """Of the first metric, with a dagger beyond the noise of seeds."""
    base, row = (results.metrics[0].overall.row(name) for name in (results.plan.base, cell.name))
    if base is None or row is None or row is base:
        return "–"
    one, other = row.scores[0], base.scores[0]
    if one.mean is None or other.mean is None:
        return "–"
    return f"{one.mean - other.mean:+.2f}" + ("†" if noise and noise.beyond(one, other) else "")


def costs(cell: Cell) -> list[str]:
    """Size and speed of a cell."""
    operations = format_number(None if cell.operations is None else cell.operations / 1e6, ".2f")
    if cell.facts is None:
        return ["–", operations, "–", "–"]
    return [
        format_number(cell.facts.parameters, ","),
        operations,
        format_number(cell.facts.words_per_second, ",.0f"),
        format_number(cell.facts.sentences_per_second, ".1f"),
    ]


def notes(results: Results, noise: SeedNoise | None) -> Iterator[str]:
    """What has to be known to read the table, and what failed."""
    for cell in results.cells:
        for seed, reason in cell.failures.items():
            yield f"{cell.name}, seed {seed}, failed: {reason}."
    if not results.metrics:
        yield f"No scores: the base, {results.plan.base}, has no translation yet."
        return
    yield from (f"{metric.name}: {metric.signature}" for metric in results.metrics)
    yield from reading_notes(results.metrics[0].overall, results.plan.base)
    if noise:
        yield (
            f"†: further from {results.plan.base} than two standard errors of the seeds; standard deviation of "
            f"{results.metrics[0].name} among seeds, over all cells: {noise.deviation:.2f} ({noise.degrees} degrees of "
            "freedom)."
        )
    yield COST_NOTE


def results_as_json(results: Results) -> str:
    """Everything, unrounded."""
    content = {
        "plan": asdict(results.plan),
        "cells": [asdict(cell) for cell in results.cells],
        "metrics": [asdict(metric) for metric in results.metrics],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
