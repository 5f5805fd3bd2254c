"""Tables as the page shows them, from those of the evaluation; and the few that only the page has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..evaluation.evaluation import MetricEvaluation
from ..evaluation.evaluation_tables import TitledTable, describe
from ..evaluation.study import Study
from ..evaluation.table import format_number
from ..evaluation.training_facts import SPEED_NOTE, TrainingFacts

#: A score as the evaluation prints it: number, spread over seeds, interval, star, number of sentences.
SCORE = re.compile(r"(-?[\d,]+(?:\.\d+)?)( ±[\d.]+)?( \([\d.–-]+\))?(\*?)( \[[\d,]+\])?")
EMPTY = "no sentences"
#: What the length of each side is called.
LENGTHS = {"source": "source length", "reference": "reference length", "both": "length of both sides"}


@dataclass(frozen=True)
class Cell:
    """One place of a table.

    Attributes:
        text: the number, or a word where there is none.
        detail: what follows in smaller type: spread, interval, number of sentences.
        star: whether the number differs significantly from the baseline's.
        best: whether it is the best of its row or column.
    """

    text: str
    detail: str = ""
    star: bool = False
    best: bool = False

    @property
    def number(self) -> float | None:
        """What the text says, None if that is no number."""
        return float(self.text.replace(",", "")) if SCORE.fullmatch(self.text) else None


@dataclass(frozen=True)
class Table:
    """Rows of cells with what has to be known to read them.

    Attributes:
        caption: what the table shows.
        header: names of the columns, that of the rows first.
        names: of the rows.
        rows: the cells of each.
        notes: below the table.
        bold_note: what bold type means; empty where no cell is the best.
    """

    caption: str
    header: Sequence[str]
    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    bold_note: str = ""


def take_apart(table: TitledTable, **changes: Any) -> Table:
    """A table of the evaluation with its printed scores taken apart, and one row for neighboring empty groups.

    Args:
        table: as the evaluation prints it.
        changes: attributes that are to differ.
    """
    header, *rows = table.rows
    names: list[str] = []
    shown: list[list[Cell]] = []
    for name, *texts in rows:
        cells = list(map(read_cell, texts))
        if shown and cells == shown[-1] and cells[-1].text == EMPTY:
            names[-1] += f", {name}"
        else:
            names.append(name)
            shown.append(cells)
    return replace(Table(table.title, header, names, shown, table.notes), **changes)


def read_cell(text: str) -> Cell:
    """The parts of a printed score; any other text is left whole."""
    match = SCORE.fullmatch(text)
    if match is None:
        return Cell(text)
    number, spread, interval, star, count = match.groups(default="")
    return Cell(number, spread + interval + count, bool(star))


def mark_best_of_columns(table: Table) -> Table:
    """The table with the best number of each column in bold; a header says where lower is better."""
    columns = zip(table.header[1:], zip(*table.rows, strict=True), strict=True)
    marked = [mark_best(cells, lower=name.endswith("(lower is better)")) for name, cells in columns]
    return with_marks(table, list(zip(*marked)), "column")


def mark_best_of_rows(table: Table, systems: Sequence[str], *, lower: bool = False) -> Table:
    """The table with the best system of each row in bold."""
    start = next(index for index, name in enumerate(table.header) if name in systems) - 1
    marked = [[*cells[:start], *mark_best(cells[start:], lower=lower)] for cells in table.rows]
    return with_marks(table, marked, "row")


def mark_best(cells: Sequence[Cell], *, lower: bool) -> list[Cell]:
    """Marks the best cells, equal ones together; none where all numbers are equal."""
    numbers = {cell.number for cell in cells if cell.number is not None}
    best = (min if lower else max)(numbers) if len(numbers) > 1 else None
    return [replace(cell, best=best is not None and cell.number == best) for cell in cells]


def with_marks(table: Table, rows: Sequence[Sequence[Cell]], group: str) -> Table:
    """The table with these cells, and the meaning of bold type if any is."""
    has_best = any(cell.best for cells in rows for cell in cells)
    return replace(table, rows=rows, bold_note=f"Bold: the best of each {group}." if has_best else "")


def curve_table(metric: MetricEvaluation, side: str) -> TitledTable:
    """The numbers of a chart along length: lengths downwards, systems across."""
    curves = [one for one in metric.curves if one.curve.side == side]
    first = curves[0].curve
    rows = [["middle of the window, in words", "sentences", *(one.system for one in curves)]]
    for index, (length, point) in enumerate(zip(first.lengths, first.points)):
        rows.append([f"{length}", f"{point.count:,}", *(describe(one.curve.points[index], None) for one in curves)])
    return TitledTable(f"{metric.name} by {LENGTHS[side]}, window of {first.window}", rows)


def system_table(study: Study) -> TitledTable:
    """The systems, the baseline first."""
    rows = [["System", "seeds", "source vocabulary", "target vocabulary"]]
    for system in study.systems:
        sizes = system.vocabulary_sizes or (None, None)
        rows.append([system.name, str(len(system.translations)), *(format_number(size, ",") for size in sizes)])
    note = f"{study.baseline} is the baseline: stars and differences compare with it."
    return TitledTable("Systems", rows, [note] if len(study.systems) > 1 else [])


def training_table(facts: Sequence[TrainingFacts]) -> TitledTable:
    """How the systems were trained, and how fast."""
    rows = [["System", "parameters", "updates", "training time", "best validation loss"]]
    rows[0] += ["words/s, training", "sentences/s, translation"]
    for one in facts:
        row = [one.system, f"{one.parameters:,}", f"{one.updates:,.0f}", format_duration(one.training_seconds)]
        row += [format_number(one.best_valid_loss, ".2f"), format_number(one.words_per_second, ",.0f")]
        rows.append([*row, format_number(one.sentences_per_second, ",.1f")])
    notes = [SPEED_NOTE, "Validation loss: bits per token. Compare speeds only if they were measured on one machine."]
    if seeds := [f"{one.system}: {one.seeds}" for one in facts if one.seeds > 1]:
        notes.append(f"Means over seeds ({', '.join(seeds)}).")
    return TitledTable("Training and speed", rows, notes)


def format_duration(seconds: float) -> str:
    """Hours and minutes, or minutes and seconds."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
