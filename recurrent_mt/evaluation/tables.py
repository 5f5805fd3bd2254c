"""Results: a row for each number, whatever counted it, and the tables that are shown of them.

Scores of whole test sets and of groups of sentences, points of curves, word accuracy, beams, trainings,
trees and alignments are records, rows of one tidy table. What is on the screen or on a page is a query of it; text,
Markdown and JSON are written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from functools import partial
from os import PathLike
from typing import Any

import pandas
import tabulate

from ..text_files import write_text

ALL = "all"


class Group(StrEnum):
    """Kinds of groups of which there are several, each with a `by` of its own."""

    LENGTH = "length"  # of sentences, each in one group or in none
    CURVE = "length curve"  # points along length, whose groups overlap
    UNKNOWN_WORDS = "unknown words"
    BEAM = "beam"


@dataclass(frozen=True)
class Record:
    """One row; these are the columns."""

    system: str  # its name
    metric: str  # with its unit where it has one: ``BLEU``, ``recall of words, %``, ``parameters``
    value: float | None  # unrounded; None where there is nothing to count
    seed: str = ""  # of the training; empty for the value over all seeds, which every number has
    test_set: str = ""  # its name; empty for the run's own
    #: what sentences (or words) are grouped by: ``source length``, ``unknown words, either``, ``beam, lenpen 1``. It is
    #: a name; what it consists of is in `group`, `side` and `penalty`.
    by: str = ALL
    bucket: str = ALL  # the group
    low: float | None = None  # lower end of the 95% interval
    high: float | None = None  # upper end
    sd: float | None = None  # standard deviation among seeds (n − 1 in the denominator)
    p: float | None = None  # of the difference from the baseline
    n: int = 0  # how many sentences (words, trainings, draws) the value is of
    group: str = ""  # a `Group`; empty where `by` alone says what is grouped
    side: str = ""  # whose words are counted: ``source``, ``reference``, ``both``, ``either``; empty if no side's
    penalty: float | None = None  # of a search: the power of a translation's length that divides its score
    #: whether all systems have the same sentences in this group; if not, each has those of its own dictionary
    shared: bool = True


NUMBERS = ("value", "low", "high", "sd", "p", "penalty")

UNKNOWN = "–"
#: A p-value below it gets a star.
SIGNIFICANT = 0.05
#: What intervals are called wherever they are shown. They are sacrebleu's; of several seeds, their means'.
INTERVAL = "95% bootstrap interval over sentences"
#: The test of the difference from the baseline, as notes call it.
PAIRED_TEST = "two-sided paired approximate randomization over sentences"
#: In a group of fewer sentences a bootstrap says nothing: no interval, no test. A whole test set has both, as with
#: sacrebleu, unless it is one sentence.
FEWEST = 10
LOWER_IS_BETTER = {"TER"}

# Columns as wide as what is in them: tabulate makes those of numbers two characters wider.
tabulate.MIN_PADDING = 0


@dataclass(frozen=True)
class Cell:
    """One place of a table."""

    text: str  # the number, or a word where there is none
    detail: str = ""  # what follows, on a page in smaller type: spread and interval
    star: bool = False  # whether the number differs significantly from the baseline's, see `PAIRED_TEST`
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


def make_frame(records: Iterable[Record]) -> pandas.DataFrame:
    """The records as a table, in their order; None becomes NaN."""
    names = [field.name for field in fields(Record)]
    frame = pandas.DataFrame([[getattr(record, name) for name in names] for record in records], columns=names)
    return frame.astype({**dict.fromkeys(NUMBERS, float), "n": int, "shared": bool})


def select(frame: pandas.DataFrame, *, seed: str = "", **columns: Any) -> pandas.DataFrame:
    """The rows with these values in these columns, in order; of the values over all seeds unless a seed is named."""
    for name, value in {"seed": seed, **columns}.items():
        frame = frame[frame[name] == value]
    return frame


def pivot(frame: pandas.DataFrame, rows: str, columns: str, values: str = "value") -> pandas.DataFrame:
    """One column of the records as a grid of two others, which keep the order in which they occur."""
    grid = frame.pivot(index=rows, columns=columns, values=values)
    return grid.reindex(index=frame[rows].unique(), columns=frame[columns].unique())


def records_as_json(frame: pandas.DataFrame, **context: Any) -> str:
    """The context, then all records, unrounded, one a line: ``pandas.DataFrame(json.load(file)["records"])``."""
    head = json.dumps(context, indent=1, ensure_ascii=False)[1:-1].rstrip()
    # JSON has no NaN.
    plain = [{name: None if cell != cell else cell for name, cell in row.items()} for row in frame.to_dict("records")]
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in plain)
    return f'{{{head}{"," if head else ""}\n "records": [\n  {rows}\n ]\n}}\n'


def format_number(number: float | None, form: str) -> str:
    """The number, or a dash where it is not known (None or NaN)."""
    return UNKNOWN if number is None or number != number else format(number, form)


def mean_cell(record: Any, form: str) -> Cell:
    """A number, which can be the best as printed, and its spread over seeds; ``record`` as of `score_cell`."""
    text, spread = (format_number(number, form) for number in (record.value, record.sd))
    rank = None if text == UNKNOWN else float(text.replace(",", ""))
    return Cell(text, "" if spread == UNKNOWN else f" ±{spread}", rank=rank)


def score_cell(record: Any, form: str = ".2f", *, count: bool = False) -> Cell:
    """A score, its spread over seeds, its interval, a star where it differs from the baseline, the sentences' count.

    Args:
        record: a `Record`, or a row of a frame of them.
        form: of the score and its spread.
        count: whether the table has no column for the sentences' count.
    """
    cell = mean_cell(record, form)
    low, high = (format_number(end, ".1f") for end in (record.low, record.high))
    detail = cell.detail if low == UNKNOWN else f"{cell.detail} ({low}–{high})"
    star = record.p is not None and record.p < SIGNIFICANT
    if count:
        cell = replace(cell, count=record.n, rank=None)
    return replace(cell, detail=detail, star=star)


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


def metric_cells(records: pandas.DataFrame, forms: Mapping[str, str]) -> pandas.DataFrame:
    """The values of systems (rows) in metrics (columns), each metric in its form."""
    chosen = records[records["metric"].isin(list(forms))]
    return pivot_cells(
        chosen,
        "system",
        "metric",
        lambda one: replace(mean_cell(one, forms[one.metric]), rank=None),
        header=list(forms),
    )


def mark_best(cells: Sequence[Cell], *, lower_is_better: bool = False) -> list[Cell]:
    """The cells, the best of them marked; none where there is nothing to choose."""
    ranks = {cell.rank for cell in cells if cell.rank is not None}
    if len(ranks) < 2:
        return list(cells)
    best = min(ranks) if lower_is_better else max(ranks)
    return [replace(cell, best=cell.rank == best) for cell in cells]


def name_metric(metric: str) -> str:
    """A metric's column header."""
    return f"{metric} (lower is better)" if metric in LOWER_IS_BETTER else metric


def score_table(
    records: pandas.DataFrame,
    signatures: Mapping[str, str],
    names: Sequence[str],
    baseline: str,
    *,
    caption: str = "Scores on the whole test set",
    statuses: Mapping[str, str] | None = None,
) -> Table:
    """Systems downward, metrics across, the best of each marked.

    Args:
        records: of any scores.
        signatures: of the metrics.
        names: of the systems.
        baseline: that the others are tested against.
        caption: of the table.
        statuses: why a system has no score.
    """
    chosen = select(records, by=ALL)
    chosen = chosen[chosen["metric"].isin(list(signatures))]
    grid = pivot_cells(chosen, "system", "metric", names=names, header=list(signatures))
    for metric in grid:
        grid[metric] = mark_best(list(grid[metric]), lower_is_better=metric in LOWER_IS_BETTER)
    rows = grid.to_numpy().tolist()
    for name, row in zip(names, rows):
        if row and row[0].text == UNKNOWN and statuses:
            row[0] = Cell(statuses[name])
    return Table(
        caption,
        ["System", *map(name_metric, signatures)],
        names,
        rows,
        list(reading_notes(records, baseline, by=ALL)),
        [f"{metric}: {signature}" for metric, signature in signatures.items()],
        "column",
    )


def interval_table(
    records: pandas.DataFrame, signatures: Mapping[str, str], names: Sequence[str], baseline: str
) -> Table:
    """The same with intervals and ``p`` in columns of their own, where some system has them."""
    header, columns = ["System"], []
    for metric in signatures:
        found = select(records, by=ALL, metric=metric).set_index("system").reindex(names)
        cells = [score_cell(one) for one in found.assign(low=None, p=None).itertuples()]
        header.append(metric)
        columns.append(mark_best(cells, lower_is_better=metric in LOWER_IS_BETTER))
        spreads = (found["high"] - found["low"]) / 2
        for name, numbers, form in (("95%", spreads, ".2f"), ("p", found["p"], ".4f")):
            if numbers.notna().any():
                header.append(name)
                columns.append([Cell(format_number(number, form)) for number in numbers])
    notes = list(reading_notes(records.assign(low=None, p=None), baseline, by=ALL))
    if "95%" in header:
        notes.append(f"95%: half of the {INTERVAL}.")
    if "p" in header:
        notes.append(f"p: {PAIRED_TEST}, against {baseline}.")
    notes += [f"{name}: lower is better." for name in LOWER_IS_BETTER if name in header]
    listed = [f"{metric}: {signature}" for metric, signature in signatures.items()]
    return Table("", header, names, list(zip(*columns)), notes, listed, "column")


def group_tables(records: pandas.DataFrame, metrics: Sequence[str], baseline: str, group: Group) -> list[Table]:
    """A table for each metric and way of making groups of this kind; first those that no side decides."""
    found = records.loc[(records["group"] == group) & (records["n"] > 0), ["metric", "by", "side"]].drop_duplicates()
    ways = [way for metric in metrics for way in found[found["metric"] == metric].itertuples(index=False)]
    return [group_table(records, way.metric, way.by, baseline) for way in sorted(ways, key=lambda way: way.side != "")]


def group_table(records: pandas.DataFrame, metric: str, by: str, baseline: str) -> Table:
    """Groups that have sentences downward, systems across.

    Where systems know different words, each has groups of its own, and its counts are in its cells.
    """
    chosen = select(records, metric=metric, by=by)
    counts = pivot(chosen[chosen["n"] > 0], "bucket", "system", "n")
    shared = bool(chosen["shared"].all())
    names = [bucket for bucket in chosen["bucket"].unique() if bucket in counts.index]
    grid = pivot_cells(chosen, "bucket", "system", partial(score_cell, count=not shared), names=names)
    rows = grid.to_numpy().tolist()
    if shared:
        rows = [
            [Cell(f"{counts.loc[name].iloc[0]:,.0f}"), *mark_best(row, lower_is_better=metric in LOWER_IS_BETTER)]
            for name, row in zip(names, rows)
        ]
    notes = list(reading_notes(records, baseline, metric=metric, by=by))
    if not shared:
        notes.append("[n]: sentences in the group, by the system's own dictionary.")
    total = select(records, metric=metric, by=ALL)["n"].iloc[0]
    if (outside := total - counts.iloc[:, 0].sum()) > 0:
        notes.append(f"{outside:,.0f} sentences are in no group.")
    made_by = name_groups(by, chosen["group"].iloc[0], chosen["side"].iloc[0])
    header = [made_by, *(["sentences"] if shared else []), *grid.columns]
    return Table(f"{metric} by {made_by}", header, names, rows, notes, best_of="row")


def name_groups(by: str, group: str, side: str) -> str:
    """What groups are made by, for readers; arguments as in a `Record`."""
    if group in (Group.LENGTH, Group.CURVE):
        return "length of both sides" if side == "both" else f"{side} length"
    return by


def reading_notes(records: pandas.DataFrame, baseline: str, **columns: str) -> Iterator[str]:
    """What the signs in the cells of these records mean, as far as there are any."""
    chosen = records
    for name, value in columns.items():
        chosen = chosen[chosen[name] == value]
    if chosen["sd"].notna().any():
        seeds = chosen[chosen["seed"] != ""].groupby("system", sort=False)["seed"].nunique()
        different = seeds.nunique() > 1
        each = f" ({', '.join(f'{system}: {count}' for system, count in seeds.items())})" if different else ""
        yield f"Means of {'the' if different else seeds.iloc[0]} seeds{each} ± standard deviation."
    if chosen["low"].notna().any():
        yield f"In parentheses: {INTERVAL}, for groups of {FEWEST} or more."
    if tests := chosen["p"].notna().sum():
        yield f"*: differs from {baseline} ({PAIRED_TEST}, p < {SIGNIFICANT})."
        yield from count_chance_stars(tests)


def count_chance_stars(tests: int) -> Iterator[str]:
    """What several tests would find where there is nothing; nothing of a single one."""
    if tests > 1:
        yield f"{tests} tests: if no system differed, chance alone would give {tests * SIGNIFICANT:.1f} stars."


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


def table_as_latex(table: Table) -> str:
    """For a paper, without packages: the best numbers are bold, and what has to be known is in comments."""
    notes = [f"% {note}" for note in (*table.signatures, *table.notes)]
    caption = [f"\\caption{{{escape_latex(table.caption)}}}"] if table.caption else []
    grid = draw_grid(table, "latex_raw", latex_cell)
    return "\n".join([r"\begin{table}", r"\centering", *caption, grid, r"\end{table}", *notes]) + "\n"


def escape_latex(text: str) -> str:
    """The text as LaTeX in which nothing is markup."""
    return "".join(tabulate.LATEX_ESCAPE_RULES.get(letter, letter) for letter in text)


def latex_cell(cell: Cell) -> str:
    """A cell between ampersands, as `markdown_cell` between bars."""
    text = escape_latex(cell.text)
    return (rf"\textbf{{{text}}}" if cell.best else text) + escape_latex(str(replace(cell, text="")))


def table_as_csv(table: Table) -> str:
    """For a spreadsheet: numbers alone; what stands beside those of a column is in a column of its own."""
    columns = [[table.header[0], *table.names]]
    for place, header in enumerate(table.header[1:]):
        cells = [row[place] for row in table.rows]
        # Digits in groups of three would be text there.
        columns.append([header, *(re.sub(r"(?<=\d),(?=\d{3})", "", cell.text) for cell in cells)])
        beside = [str(replace(cell, text="")).strip() for cell in cells]
        if any(beside):
            columns.append([f"{header}, details", *beside])
    return pandas.DataFrame(columns).T.map(defuse).to_csv(header=False, index=False)


def defuse(text: str) -> str:
    """The text, quoted where a spreadsheet would take a name for a formula and run it."""
    return f"'{text}" if re.match(r"[=@\t]|[+-](?!\d[\d.]*$)", text) else text


def escape_markdown(text: str) -> str:
    """The text as Markdown in which nothing is markup."""
    return re.sub(r"[\\`*<|\[&~]|\b_|_\b", r"\\\g<0>", text)


def markdown_cell(cell: Cell) -> str:
    """A cell between bars, in which nothing of a name is markup."""
    text = escape_markdown(cell.text)
    return f"{f'**{text}**' if cell.best else text}{replace(cell, text='')}"


def result_files(prefix: str | PathLike[str]) -> list[str]:
    """The files that `write_results` writes."""
    return [f"{prefix}.{ending}" for ending in ("json", "md", "txt")]


def write_results(
    prefix: str | PathLike[str], tables: Sequence[Table], records: pandas.DataFrame, **context: Any
) -> None:
    """Writes `result_files`: all numbers as JSON, and the tables."""
    write_text(f"{prefix}.json", records_as_json(records, **context, tables=[asdict(table) for table in tables]))
    write_text(f"{prefix}.md", tables_as_markdown(tables))
    write_text(f"{prefix}.txt", tables_as_text(tables))
