"""Tables of scores, as queries of the records: whole test sets, groups of sentences, curves, sizes of vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas

from .buckets import ALONG
from .records import ALL, Record, count_seeds, select_records
from .scores import FEWEST
from .tables import UNKNOWN, Cell, Table, format_number, mark_best
from .test_set import System

SIGNIFICANT = 0.05
LOWER_IS_BETTER = {"TER"}
#: All sentences and those without unknown words: the papers' rows All and No UNK.
KNOWN_SENTENCES = "unknown words"


def score_cell(record: Record | None, *, count: bool = False) -> Cell:
    """A score, its spread over seeds, its interval, and a star where it differs from the baseline.

    Args:
        record: over all seeds; None where there is none.
        count: add the number of sentences.
    """
    if record is None:
        return Cell(UNKNOWN)
    number = record.n if count else None
    if record.value is None:
        return Cell("no sentences", count=number)
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
    """Systems downwards, metrics across."""
    columns = score_columns(records, list(signatures), names)
    return Table(
        "Scores",
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


def group_tables(records: pandas.DataFrame, metrics: Sequence[str], baseline: str, *, of: str = "") -> Iterator[Table]:
    """A table for each metric and way of grouping sentences; ``of`` is a word that the grouping's name must have."""
    for metric in metrics:
        for by in records.loc[records["metric"] == metric, "by"].unique():
            if by != ALL and of in by and not by.startswith(ALONG.split("{")[0]):
                yield group_table(records, metric, by, baseline)


def group_table(records: pandas.DataFrame, metric: str, by: str, baseline: str) -> Table:
    """Groups downwards, systems across.

    Where systems know different words, each has groups of its own, and its counts are in its cells.
    """
    found = {(one.system, one.bucket): one for one in select_records(records, metric=metric, by=by)}
    systems, buckets = ([*dict.fromkeys(key[place] for key in found)] for place in (0, 1))
    shared = all(found[system, bucket].n == found[systems[0], bucket].n for system, bucket in found)
    rows = []
    for bucket in buckets:
        cells = [score_cell(found[system, bucket], count=not shared) for system in systems]
        if shared:
            number = Cell(f"{found[systems[0], bucket].n:,}")
            cells = [number, *mark_best(cells, lower_is_better=metric in LOWER_IS_BETTER)]
        rows.append(cells)
    notes = list(reading_notes(records, baseline, metric=metric, by=by))
    if not shared:
        notes.append("[n]: sentences in the group, by the system's own dictionary.")
    if outside := count_outside(records, found, metric, systems[0]):
        notes.append(f"{outside:,} sentences are in no group.")
    header = [by, *(["sentences"] if shared else []), *systems]
    return Table(f"{metric} by {by}", header, buckets, rows, notes, best_of="row")


def count_outside(records: pandas.DataFrame, found: Mapping[tuple[str, str], Record], metric: str, system: str) -> int:
    """How many sentences of the test set are in none of a system's groups."""
    (total,) = {record.n for record in select_records(records, metric=metric, by=ALL)}
    return max(0, total - sum(record.n for (name, _), record in found.items() if name == system))


def curve_table(records: pandas.DataFrame, metric: str, side: str) -> Table:
    """The points of a curve along length: lengths downwards, systems across."""
    found = {(one.system, one.bucket): one for one in select_records(records, metric=metric, by=ALONG.format(side))}
    systems, lengths = ([*dict.fromkeys(key[place] for key in found)] for place in (0, 1))
    rows = [
        [Cell(f"{found[systems[0], length].n:,}"), *(score_cell(found[system, length]) for system in systems)]
        for length in lengths
    ]
    header = ["middle of the window, words", "sentences", *systems]
    return Table(f"{metric} along {side} length", header, lengths, rows)


def reading_notes(records: pandas.DataFrame, baseline: str, **columns: str) -> Iterator[str]:
    """What the signs in the cells of these records mean, as far as there are any."""
    chosen = records
    for name, value in columns.items():
        chosen = chosen[chosen[name] == value]
    if chosen["sd"].notna().any():
        yield f"Means of {count_seeds(chosen)} seeds ± standard deviation."
    if chosen["low"].notna().any():
        yield f"In parentheses: 95% bootstrap interval over sentences, for groups of {FEWEST} or more."
    if chosen["p"].notna().any():
        yield f"*: differs from {baseline} (paired bootstrap over sentences, p < {SIGNIFICANT})."


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
