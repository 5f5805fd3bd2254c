"""Tables of scores, as queries of the records: whole test sets, groups of sentences, curves, sizes of vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas

from .records import ALL, Group, Record, nest_records, select_records
from .scores import FEWEST, INTERVAL, PAIRED_BOOTSTRAP
from .tables import UNKNOWN, Cell, Table, format_number, mark_best
from .test_set import System

SIGNIFICANT = 0.05
LOWER_IS_BETTER = {"TER"}
NO_SENTENCES = "no sentences"


def score_cell(record: Record | None, *, count: bool = False) -> Cell:
    """A score, its spread over seeds, its interval, a star where it differs from the baseline, the sentences' count."""
    if record is None:
        return Cell(UNKNOWN)
    number = record.n if count else None
    if record.value is None:
        return Cell(NO_SENTENCES, count=number)
    text = f"{record.value:.2f}"
    detail = "" if record.sd is None else f" ±{record.sd:.2f}"
    if record.low is not None and record.high is not None:
        detail += f" ({record.low:.1f}–{record.high:.1f})"
    star = record.p is not None and record.p < SIGNIFICANT
    return Cell(text, detail, star, number, None if count else float(text))


def name_metric(metric: str) -> str:
    """A metric's column header."""
    return f"{metric} (lower is better)" if metric in LOWER_IS_BETTER else metric


def score_columns(records: pandas.DataFrame, metrics: Sequence[str], names: Sequence[str]) -> list[list[Cell]]:
    """The scores on the whole test set, a list for each metric, the best of each marked."""
    columns = []
    for metric in metrics:
        found = {record.system: record for record in select_records(records, metric=metric, by=ALL)}
        cells = [score_cell(found.get(name)) for name in names]
        columns.append(mark_best(cells, lower_is_better=metric in LOWER_IS_BETTER))
    return columns


def whole_set_table(
    records: pandas.DataFrame, signatures: Mapping[str, str], names: Sequence[str], baseline: str
) -> Table:
    """Systems downward, metrics across."""
    columns = score_columns(records, list(signatures), names)
    return Table(
        "Scores on the whole test set",
        ["System", *map(name_metric, signatures)],
        names,
        list(zip(*columns)),
        list(reading_notes(records, baseline, by=ALL)),
        list_signatures(signatures),
        "column",
    )


def list_signatures(signatures: Mapping[str, str]) -> list[str]:
    """A line for each metric."""
    return [f"{metric}: {signature}" for metric, signature in signatures.items()]


def group_tables(records: pandas.DataFrame, metrics: Sequence[str], baseline: str, group: Group) -> list[Table]:
    """A table for each metric and way of making groups of this kind; first those that no side decides."""
    found = records.loc[records["group"] == group, ["metric", "by", "side"]].drop_duplicates()
    ways = [way for metric in metrics for way in found[found["metric"] == metric].itertuples(index=False)]
    return [group_table(records, way.metric, way.by, baseline) for way in sorted(ways, key=lambda way: way.side != "")]


def group_table(records: pandas.DataFrame, metric: str, by: str, baseline: str) -> Table:
    """Groups downward, systems across; neighboring groups without sentences share a row.

    Where systems know different words, each has groups of its own, and its counts are in its cells.
    """
    chosen = select_records(records, metric=metric, by=by)
    groups = nest_records(chosen, "bucket", "system")
    shared = all(len({one.n for one in group.values()}) == 1 for group in groups.values())
    names: list[str] = []
    rows: list[list[Cell]] = []
    for name, group in groups.items():
        row = [score_cell(record, count=not shared) for record in group.values()]
        if shared:
            row = [count_cell(group), *mark_best(row, lower_is_better=metric in LOWER_IS_BETTER)]
        if rows and row[-1].text == NO_SENTENCES and row == rows[-1]:
            names[-1] += f", {name}"
        else:
            names.append(name)
            rows.append(row)
    systems = list(next(iter(groups.values())))
    notes = list(reading_notes(records, baseline, metric=metric, by=by))
    if not shared:
        notes.append("[n]: sentences in the group, by the system's own dictionary.")
    (total,) = {record.n for record in select_records(records, metric=metric, by=ALL)}
    if (outside := total - sum(group[systems[0]].n for group in groups.values())) > 0:
        notes.append(f"{outside:,} sentences are in no group.")
    made_by = name_groups(by, chosen[0].group, chosen[0].side)
    header = [made_by, *(["sentences"] if shared else []), *systems]
    return Table(f"{metric} by {made_by}", header, names, rows, notes, best_of="row")


def name_groups(by: str, group: str, side: str) -> str:
    """What groups are made by, for readers; arguments as in a `Record`."""
    if group in (Group.LENGTH, Group.CURVE):
        return "length of both sides" if side == "both" else f"{side} length"
    return by


def count_cell(group: Mapping[str, Record]) -> Cell:
    """How many sentences (words) are in a group that all systems share."""
    return Cell(f"{next(iter(group.values())).n:,}")


def curve_table(records: pandas.DataFrame, metric: str, by: str, window: int) -> Table:
    """The points of a curve along length: lengths downward, systems across."""
    chosen = select_records(records, metric=metric, by=by)
    points = nest_records(chosen, "bucket", "system")
    rows = [[count_cell(point), *map(score_cell, point.values())] for point in points.values()]
    header = ["middle of the window, words", "sentences", *next(iter(points.values()))]
    caption = f"{metric} by {name_groups(by, chosen[0].group, chosen[0].side)}, window of {window}"
    return Table(caption, header, list(points), rows)


def reading_notes(records: pandas.DataFrame, baseline: str, **columns: str) -> Iterator[str]:
    """What the signs in the cells of these records mean, as far as there are any."""
    chosen = records
    for name, value in columns.items():
        chosen = chosen[chosen[name] == value]
    if chosen["sd"].notna().any():
        seeds = chosen[chosen["seed"] != ""].groupby("system")["seed"].nunique().max()
        yield f"Means of {seeds} seeds ± standard deviation."
    if chosen["low"].notna().any():
        yield f"In parentheses: {INTERVAL}, for groups of {FEWEST} or more."
    if chosen["p"].notna().any():
        yield f"*: differs from {baseline} ({PAIRED_BOOTSTRAP}, p < {SIGNIFICANT})."


def vocabulary_table(records: pandas.DataFrame, metric: str, systems: Sequence[System], baseline: str) -> Table:
    """Systems in the order of the words they know."""
    found = {record.system: record for record in select_records(records, metric=metric, by=ALL)}
    ordered = sorted(systems, key=lambda system: system.vocabulary_sizes or (0, 0))
    rows = [
        [
            *(Cell(format_number(size, ",")) for size in system.vocabulary_sizes or (None, None)),
            score_cell(found[system.name]),
        ]
        for system in ordered
    ]
    header = ["System", "source words", "target words", metric]
    notes = list(reading_notes(records, baseline, metric=metric, by=ALL))
    return Table(f"{metric} by vocabulary size", header, [system.name for system in ordered], rows, notes)
