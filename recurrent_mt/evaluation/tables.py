"""Tables as they are shown, and the one place where they become text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pandas
import tabulate

from ..text_files import FileError, write_text
from .records import pivot, records_as_json

UNKNOWN, NO_SENTENCES = "–", "no sentences"
#: A p-value below it gets a star.
SIGNIFICANT = 0.05

# Columns as wide as what is in them: tabulate makes those of numbers two characters wider.
tabulate.MIN_PADDING = 0


@dataclass(frozen=True)
class Cell:
    """One place of a table."""

    text: str  # the number, or a word where there is none
    detail: str = ""  # what follows, on a page in smaller type: spread and interval
    star: bool = False  # whether the number differs significantly from the baseline's
    count: int | None = None  # sentences that it is of, where the table has no column for them
    rank: float | None = None  # what decides which cell of a row or column is the best; None keeps it out
    best: bool = False  # whether it is the best, equal ones together

    def __str__(self) -> str:
        """The number with everything beside it, as plain text."""
        count = "" if self.count is None else f" [{self.count:,}]"
        return f"{self.text}{self.detail}{'*' if self.star else ''}{count}"


@dataclass(frozen=True)
class Table:
    """Rows of cells with what has to be known to read them."""

    caption: str  # what the table shows; may be empty
    header: Sequence[str]  # names of the columns, that of the rows first
    names: Sequence[str]  # of the rows
    rows: Sequence[Sequence[Cell]]  # the cells of each
    notes: Sequence[str] = ()  # below the table
    signatures: Sequence[str] = ()  # of the metrics, ahead of the notes; a page shows them elsewhere
    best_of: str = ""  # ``column`` or ``row``: of what the best cells are marked; empty if none are

    @property
    def bold_note(self) -> str:
        """What bold type means, for renderers that have it; empty where no cell is the best."""
        has_best = any(cell.best for row in self.rows for cell in row)
        return f"Bold: the best of each {self.best_of}." if has_best else ""


def format_number(number: float | None, form: str) -> str:
    """The number, or a dash where it is not known (None or NaN)."""
    return UNKNOWN if number is None or number != number else format(number, form)


def number_cell(number: float | None, form: str, unit: str = "") -> Cell:
    """A number that can be the best of its row or column, as printed."""
    text = format_number(number, form)
    return Cell(text) if text == UNKNOWN else Cell(f"{text}{unit}", rank=float(text.replace(",", "")))


def score_cell(record: Any, form: str = ".2f", *, count: bool = False) -> Cell:
    """A score, its spread over seeds, its interval, a star where it differs from the baseline, the sentences' count.

    Args:
        record: a `Record`, or a row of a frame of them.
        form: of the score and its spread.
        count: whether the table has no column for the sentences' count.
    """
    number = record.n if count else None
    if format_number(record.value, form) == UNKNOWN:
        return Cell(NO_SENTENCES, count=number)
    spread = format_number(record.sd, form)
    low, high = (format_number(end, ".1f") for end in (record.low, record.high))
    detail = f" ±{spread}" * (spread != UNKNOWN) + f" ({low}–{high})" * (low != UNKNOWN)
    star = record.p is not None and record.p < SIGNIFICANT
    cell = replace(number_cell(record.value, form), detail=detail, star=star, count=number)
    return replace(cell, rank=None) if count else cell


def pivot_cells(
    records: pandas.DataFrame,
    rows: str,
    columns: str,
    write_cell: Callable[[Any], Cell] = score_cell,
    *,
    names: Sequence[str] | None = None,
    header: Sequence[str] | None = None,
) -> pandas.DataFrame:
    """The records as a grid of cells; a dash where there is no record.

    Args:
        records: at most one for a place.
        rows: the column that names the rows of the grid.
        columns: that which names its columns.
        write_cell: makes a cell of a record.
        names: of the rows; as they occur if None.
        header: names of the columns; as they occur if None.
    """
    cells = pandas.Series([write_cell(one) for one in records.itertuples()], records.index, dtype=object)
    grid = pivot(records.assign(cell=cells), rows, columns, "cell").reindex(index=names, columns=header)
    return grid.astype(object).map(lambda cell: cell if isinstance(cell, Cell) else Cell(UNKNOWN))


def metric_cells(
    records: pandas.DataFrame, forms: Mapping[str, str], names: Sequence[str] | None = None
) -> pandas.DataFrame:
    """The values of systems (rows) in metrics (columns), each metric in its form."""
    chosen = records[records["metric"].isin(list(forms))]
    return pivot_cells(
        *(chosen, "system", "metric", lambda one: Cell(format_number(one.value, forms[one.metric]))),
        names=names,
        header=list(forms),
    )


def mark_best(cells: Sequence[Cell], *, lower_is_better: bool = False) -> list[Cell]:
    """The cells, the best of them marked; none where there is nothing to choose."""
    ranks = {cell.rank for cell in cells if cell.rank is not None}
    if len(ranks) < 2:
        return list(cells)
    best = min(ranks) if lower_is_better else max(ranks)
    return [replace(cell, best=cell.rank == best) for cell in cells]


def tables_as_text(tables: Iterable[Table]) -> str:
    """For a terminal."""
    blocks = []
    for table in tables:
        heading = [table.caption, ""] if table.caption else []
        notes = ["", *table.signatures, *table.notes] if table.signatures or table.notes else []
        blocks.append("\n".join([*heading, draw_grid(table, "simple", str), *notes]))
    return "\n\n".join(blocks) + "\n"


def tables_as_markdown(tables: Iterable[Table]) -> str:
    """For a page: the best numbers are bold, each note is a paragraph."""
    blocks = []
    for table in tables:
        heading = [f"## {table.caption}"] if table.caption else []
        notes = filter(None, [*table.signatures, table.bold_note, *table.notes])
        blocks.append("\n\n".join([*heading, draw_grid(table, "pipe", markdown_cell), *notes]))
    return "\n\n".join(blocks) + "\n"


def draw_grid(table: Table, form: str, write_cell: Callable[[Cell], str]) -> str:
    """The cells by tabulate in one of its formats: names to the left, numbers to the right."""
    header = [write_cell(Cell(name)) for name in table.header]
    rows = [[write_cell(Cell(name)), *map(write_cell, row)] for name, row in zip(table.names, table.rows, strict=True)]
    columns = ["left", *["right"] * (len(header) - 1)]
    return tabulate.tabulate(rows, header, tablefmt=form, disable_numparse=True, colalign=columns)


def markdown_cell(cell: Cell) -> str:
    """A cell between bars."""
    number = f"**{cell.text}**" if cell.best else cell.text
    return f"{number}{replace(cell, text='')}".replace("|", r"\|")


def read_tables(path: str | PathLike[str]) -> list[Table]:
    """The tables in a JSON file that `write_results` wrote; none of JSON that is something else.

    Raises:
        FileError: if the file is damaged.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        found = content["tables"] if isinstance(content, dict) and "tables" in content else []
        tables = [
            Table(**{**table, "rows": [[Cell(**cell) for cell in row] for row in table["rows"]]}) for table in found
        ]
        for table in tables:
            check_table(table)
        return tables
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileError(path, f"its tables are damaged: make it anew with the tool that wrote it ({error})") from error


def check_table(table: Table) -> None:
    """Raises ValueError unless all texts are texts, and each row has a name and a cell for each other column."""
    cells = [cell for row in table.rows for cell in row]
    texts = [table.caption, *table.header, *table.names, *table.notes, *table.signatures, table.best_of]
    texts += [text for cell in cells for text in (cell.text, cell.detail)]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is missing or something else")
    # Half of a character beyond U+FFFF is text in JSON, and cannot be written.
    "".join(texts).encode("utf-8")
    if not all(one.count is None or isinstance(one.count, int) for one in cells):
        raise ValueError("a number of sentences is no number")
    if len(table.names) != len(table.rows):
        raise ValueError(f"{len(table.names)} names of {len(table.rows)} rows")
    for name, row in zip(table.names, table.rows):
        if len(row) + 1 != len(table.header):
            raise ValueError(f"row {name!r} has {len(row)} cells below {len(table.header)} headers")


def write_results(
    prefix: str | PathLike[str], tables: Sequence[Table], records: pandas.DataFrame, **context: Any
) -> None:
    """Writes ``PREFIX.json`` with all numbers, and the tables in ``PREFIX.md`` and ``PREFIX.txt``."""
    write_text(f"{prefix}.json", records_as_json(records, **context, tables=[asdict(table) for table in tables]))
    write_text(f"{prefix}.md", tables_as_markdown(tables))
    write_text(f"{prefix}.txt", tables_as_text(tables))
