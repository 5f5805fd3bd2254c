"""The numbers of a study as tables with marks, intervals and stars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..evaluation.bucket_scores import BucketScore, Comparison
from ..evaluation.content import Content
from ..evaluation.evaluation import Breakdown, MetricEvaluation, SystemCurve
from ..evaluation.evaluation_tables import TitledTable, describe, percent, reading_notes
from ..evaluation.evaluation_tables import content_table as plain_content_table
from ..evaluation.evaluation_tables import nbest_table as plain_nbest_table
from ..evaluation.nbest_scores import NBestScores
from ..evaluation.table import format_number
from ..evaluation.test_set import System
from ..evaluation.word_accuracy import WordAccuracy
from .table import Cell, Table, mark_best

BEST = "Bold: the best of its {}."


def score_cell(score: BucketScore, comparison: Comparison | None) -> Cell:
    """A score as everywhere else in this project, its parts apart."""
    text = describe(score, comparison)
    if score.mean is None:
        return Cell(text)
    value = f"{score.mean:.2f}"
    return Cell(value, text.removeprefix(value).removesuffix("*"), text.endswith("*"), float(value))


def overall_table(metrics: Sequence[MetricEvaluation], baseline: str) -> Table:
    """All systems under all metrics."""
    columns = []
    for metric in metrics:
        cells = [score_cell(row.scores[0], row.comparisons[0]) for row in metric.overall.systems]
        columns.append(mark_best(cells, lower_is_better=metric.lower_is_better))
    names = [row.system for row in metrics[0].overall.systems]
    header = ["System", *(metric.name + (" (lower is better)" if metric.lower_is_better else "") for metric in metrics)]
    notes = [best_note(columns, "column"), *reading_notes(metrics[0].overall, baseline)]
    return Table("Scores on the whole test set", header, names, list(zip(*columns)), list(filter(None, notes)))


def breakdown_table(metric: MetricEvaluation, breakdown: Breakdown, baseline: str) -> Table:
    """Groups downwards, systems across; where systems know different words, each cell counts its own sentences."""
    shared = shares_sentences(breakdown)
    body = shared_rows(metric, breakdown) if shared else own_rows(breakdown)
    names, rows = [name for name, _ in body], [cells for _, cells in body]
    notes = [best_note(rows, "row"), *reading_notes(breakdown, baseline)]
    if not shared:
        notes.append("[n]: sentences in the group, by the system's own dictionary.")
    if breakdown.outside:
        notes.append(f"{breakdown.outside:,} sentences are in no group.")
    header = [breakdown.by, *(["sentences"] if shared else []), *(row.system for row in breakdown.systems)]
    return Table(f"{metric.name} by {breakdown.by}", header, names, rows, list(filter(None, notes)))


def shares_sentences(breakdown: Breakdown) -> bool:
    """Whether the groups of all systems have the same numbers of sentences."""
    first, *others = breakdown.systems
    return all([one.count for one in row.scores] == [one.count for one in first.scores] for row in others)


def shared_rows(metric: MetricEvaluation, breakdown: Breakdown) -> list[tuple[str, list[Cell]]]:
    """Name and cells of each group; neighbouring groups without sentences share a row that says so."""
    rows: list[tuple[str, list[Cell]]] = []
    empty = [Cell("0"), Cell("no sentences", width=len(breakdown.systems))]
    for index, score in enumerate(breakdown.systems[0].scores):
        if score.count:
            cells = [score_cell(row.scores[index], row.comparisons[index]) for row in breakdown.systems]
            best = mark_best(cells, lower_is_better=metric.lower_is_better)
            rows.append((score.label, [Cell(f"{score.count:,}"), *best]))
        elif rows and rows[-1][1] == empty:
            rows[-1] = (f"{rows[-1][0]}, {score.label}", empty)
        else:
            rows.append((score.label, empty))
    return rows


def own_rows(breakdown: Breakdown) -> list[tuple[str, list[Cell]]]:
    """Name and cells of each group where every system counts other sentences: no cell is better than another."""
    rows = []
    for index, score in enumerate(breakdown.systems[0].scores):
        cells = [score_cell(row.scores[index], row.comparisons[index]) for row in breakdown.systems]
        counts = [row.scores[index].count for row in breakdown.systems]
        counted = [Cell(cell.text, f"{cell.detail} [{n:,}]", cell.star) for cell, n in zip(cells, counts, strict=True)]
        rows.append((score.label, counted))
    return rows


def curve_table(metric: MetricEvaluation, curves: Sequence[SystemCurve]) -> Table:
    """The points of a chart along length: lengths downwards, systems across."""
    first = curves[0].curve
    rows = [
        [Cell(f"{point.count:,}"), *(score_cell(one.curve.points[index], None) for one in curves)]
        for index, point in enumerate(first.points)
    ]
    header = ["middle of the window, words", "sentences", *(one.system for one in curves)]
    caption = f"{metric.name} along {first.side} length, window of {first.window}"
    return Table(caption, header, list(map(str, first.lengths)), rows)


def vocabulary_table(metric: MetricEvaluation, systems: Sequence[System], baseline: str) -> Table:
    """Systems in the order of the words they know."""
    order = sorted(range(len(systems)), key=lambda index: systems[index].vocabulary_sizes or (0, 0))
    rows = []
    for index in order:
        sizes = systems[index].vocabulary_sizes or (None, None)
        score = metric.overall.systems[index]
        cell = score_cell(score.scores[0], score.comparisons[0])
        rows.append([*(Cell(format_number(size, ",")) for size in sizes), cell])
    header = ["System", "source words", "target words", metric.name]
    names = [systems[index].name for index in order]
    notes = list(reading_notes(metric.overall, baseline))
    return Table(f"{metric.name} by vocabulary size", header, names, rows, notes)


def word_table(accuracies: Mapping[str, Sequence[WordAccuracy]]) -> Table:
    """F-measure by training frequency, one column a system."""
    first = next(iter(accuracies.values()))
    rows = []
    for index, group in enumerate(first):
        cells = [percent_cell(row[index].f_measure) for row in accuracies.values()]
        rows.append([Cell(f"{group.expected:,}"), *mark_best(cells)])
    header = ["frequency in training", "words in references", *accuracies]
    notes = list(filter(None, [best_note(rows, "row")]))
    return Table("F-measure of words, in percent", header, [group.label for group in first], rows, notes)


def percent_cell(share: float | None) -> Cell:
    """A share of one in percent, one decimal."""
    text = format_number(percent(share), ".1f")
    return Cell(text, rank=None if share is None else float(text))


def content_table(contents: Mapping[str, Content]) -> Table:
    """Length, repetition and loss, one row a system."""
    return as_table(plain_content_table(contents), "Length, repetition and loss")


def nbest_table(metric: MetricEvaluation, found: Mapping[str, NBestScores]) -> Table:
    """What could be reached by choosing from n-best lists, one row a system."""
    plain = plain_nbest_table(metric, found)
    return as_table(plain, plain.title)


def as_table(plain: TitledTable, caption: str) -> Table:
    """A table of the printed analysis, as it is, with a caption for a section that has its title."""
    header, *rows = plain.rows
    return Table(caption, header, [row[0] for row in rows], [list(map(Cell, row[1:])) for row in rows], plain.notes)


def best_note(groups: Sequence[Sequence[Cell]], what: str) -> str:
    """What bold type means, empty where there is none."""
    return BEST.format(what) if any(cell.best for group in groups for cell in group) else ""
