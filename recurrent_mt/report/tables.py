"""What the page changes in the tables of the evaluation, and the few that only the page has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas

from ..evaluation.analysis import Analysis
from ..evaluation.records import select_records
from ..evaluation.score_tables import curve_table
from ..evaluation.tables import Cell, Table, format_number
from ..evaluation.training import BY_TRAINING, PARAMETERS, cost_table

EMPTY = "no sentences"
#: What the length of each side is called.
LENGTHS = {"source": "source length", "reference": "reference length", "both": "length of both sides"}


def show_groups(table: Table) -> Table:
    """A table of groups with the page's name of lengths on both sides, and one row for neighboring empty groups."""
    names: list[str] = []
    rows: list[Sequence[Cell]] = []
    for name, row in zip(table.names, table.rows, strict=True):
        if rows and row[-1].text == EMPTY and list(row) == list(rows[-1]):
            names[-1] += f", {name}"
        else:
            names.append(name)
            rows.append(row)
    caption, by = (text.replace("both length", LENGTHS["both"]) for text in (table.caption, table.header[0]))
    return replace(table, caption=caption, header=[by, *table.header[1:]], names=names, rows=rows)


def show_curve(analysis: Analysis, metric: str, side: str) -> Table:
    """The numbers of a chart along length."""
    caption = f"{metric} by {LENGTHS[side]}, window of {analysis.settings.window}"
    return replace(curve_table(analysis.records, metric, side), caption=caption)


def system_table(analysis: Analysis) -> Table:
    """The systems, the baseline first."""
    rows = []
    for system in analysis.systems:
        sizes = system.vocabulary_sizes or (None, None)
        rows.append([Cell(str(len(system.translations))), *(Cell(format_number(size, ",")) for size in sizes)])
    header = ["System", "seeds", "source vocabulary", "target vocabulary"]
    note = f"{analysis.baseline} is the baseline: stars and differences compare with it."
    return Table("Systems", header, analysis.names, rows, [note] if len(rows) > 1 else [])


def training_table(records: pandas.DataFrame) -> Table:
    """How the systems were trained, and how fast."""
    found = select_records(records, by=BY_TRAINING, metric=PARAMETERS)
    table = cost_table(records, [record.system for record in found])
    notes = [*table.notes, "Compare speeds only if they were measured on one machine."]
    if seeds := [f"{record.system}: {record.n}" for record in found if record.n > 1]:
        notes.append(f"Means over seeds, except of memory ({', '.join(seeds)}).")
    return replace(table, caption="Training and speed", notes=notes)
