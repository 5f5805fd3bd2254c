"""Tables of scores, as queries of the records: whole test sets, groups of sentences, curves, sizes of vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas

from .scores import FEWEST, INTERVAL, PAIRED_TESTS
from .tables import (
    ALL,
    NO_SENTENCES,
    SIGNIFICANT,
    UNKNOWN,
    Cell,
    Group,
    Table,
    format_number,
    mark_best,
    pivot,
    pivot_cells,
    score_cell,
    select,
)
from .test_set import System

LOWER_IS_BETTER = {"TER"}


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
    paired: str | None = "bootstrap",
) -> Table:
    """Systems downward, metrics across, the best of each marked.

    Args:
        records: of any scores.
        signatures: of the metrics.
        names: of the systems.
        baseline: that the others are tested against.
        caption: of the table.
        statuses: why a system has no score.
        paired: the test, a key of `PAIRED_TESTS`.
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
        list(reading_notes(records, baseline, paired, by=ALL)),
        [f"{metric}: {signature}" for metric, signature in signatures.items()],
        "column",
    )


def interval_table(
    records: pandas.DataFrame, signatures: Mapping[str, str], names: Sequence[str], baseline: str, paired: str | None
) -> Table:
    """The same with ``±`` and ``p`` in columns of their own, where some system has them."""
    header, columns = ["System"], []
    for metric in signatures:
        found = select(records, by=ALL, metric=metric).set_index("system").reindex(names)
        cells = [score_cell(one) for one in found.assign(low=None, p=None).itertuples()]
        header.append(metric)
        columns.append(mark_best(cells, lower_is_better=metric in LOWER_IS_BETTER))
        spreads = (found["high"] - found["low"]) / 2
        for name, numbers, form in (("±", spreads, ".2f"), ("p", found["p"], ".4f")):
            if numbers.notna().any():
                header.append(name)
                columns.append([Cell(format_number(number, form)) for number in numbers])
    notes = list(reading_notes(records.assign(low=None, p=None), baseline, by=ALL))
    if "±" in header:
        notes.append(f"±: half of the {INTERVAL}.")
    if paired and "p" in header:
        notes.append(f"p: {PAIRED_TESTS[paired]}, against {baseline}.")
    notes += [f"{name}: lower is better." for name in LOWER_IS_BETTER if name in header]
    listed = [f"{metric}: {signature}" for metric, signature in signatures.items()]
    return Table("", header, names, list(zip(*columns)), notes, listed, "column")


def group_tables(records: pandas.DataFrame, metrics: Sequence[str], baseline: str, group: Group) -> list[Table]:
    """A table for each metric and way of making groups of this kind; first those that no side decides."""
    found = records.loc[records["group"] == group, ["metric", "by", "side"]].drop_duplicates()
    ways = [way for metric in metrics for way in found[found["metric"] == metric].itertuples(index=False)]
    return [group_table(records, way.metric, way.by, baseline) for way in sorted(ways, key=lambda way: way.side != "")]


def group_table(records: pandas.DataFrame, metric: str, by: str, baseline: str) -> Table:
    """Groups downward, systems across; neighboring groups without sentences share a row.

    Where systems know different words, each has groups of its own, and its counts are in its cells.
    """
    chosen = select(records, metric=metric, by=by)
    counts = pivot(chosen, "bucket", "system", "n")
    shared = bool((counts.nunique(axis=1) == 1).all())
    grid = pivot_cells(chosen, "bucket", "system", lambda record: score_cell(record, count=not shared))
    names: list[str] = []
    rows: list[list[Cell]] = []
    for name, cells in grid.iterrows():
        row = list(cells)
        if shared:
            row = [count_cell(counts.loc[name].iloc[0]), *mark_best(row, lower_is_better=metric in LOWER_IS_BETTER)]
        if rows and row[-1].text == NO_SENTENCES and row == rows[-1]:
            names[-1] += f", {name}"
        else:
            names.append(str(name))
            rows.append(row)
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


def count_cell(count: float) -> Cell:
    """How many sentences (words) are in a group that all systems share."""
    return Cell(f"{count:,.0f}")


def curve_table(records: pandas.DataFrame, metric: str, by: str, window: int) -> Table:
    """The points of a curve along length: lengths downward, systems across."""
    chosen = select(records, metric=metric, by=by)
    grid = pivot_cells(chosen, "bucket", "system")
    counts = pivot(chosen, "bucket", "system", "n").iloc[:, 0]
    rows = [[count_cell(count), *cells] for count, cells in zip(counts, grid.to_numpy().tolist(), strict=True)]
    header = ["middle of the window, words", "sentences", *grid.columns]
    caption = f"{metric} by {name_groups(by, chosen['group'].iloc[0], chosen['side'].iloc[0])}, window of {window}"
    return Table(caption, header, list(grid.index), rows)


def reading_notes(
    records: pandas.DataFrame, baseline: str, paired: str | None = "bootstrap", **columns: str
) -> Iterator[str]:
    """What the signs in the cells of these records mean, as far as there are any."""
    chosen = records
    for name, value in columns.items():
        chosen = chosen[chosen[name] == value]
    if chosen["sd"].notna().any():
        seeds = chosen[chosen["seed"] != ""].groupby("system")["seed"].nunique().max()
        yield f"Means of {seeds} seeds ± standard deviation."
    if chosen["low"].notna().any():
        yield f"In parentheses: {INTERVAL}, for groups of {FEWEST} or more."
    if paired and chosen["p"].notna().any():
        yield f"*: differs from {baseline} ({PAIRED_TESTS[paired]}, p < {SIGNIFICANT})."


def vocabulary_table(records: pandas.DataFrame, metric: str, systems: Sequence[System], baseline: str) -> Table:
    """Systems in the order of the words they know."""
    ordered = sorted(systems, key=lambda system: system.vocabulary_sizes or (0, 0))
    names = [system.name for system in ordered]
    scores = pivot_cells(select(records, metric=metric, by=ALL), "system", "metric", names=names)[metric]
    rows = [
        [*(Cell(format_number(size, ",")) for size in system.vocabulary_sizes or (None, None)), scores[system.name]]
        for system in ordered
    ]
    header = ["System", "source words", "target words", metric]
    notes = list(reading_notes(records, baseline, metric=metric, by=ALL))
    return Table(f"{metric} by vocabulary size", header, names, rows, notes)
