"""An evaluation as titled tables, for a terminal or a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .bucket_scores import FEWEST, BucketScore, Comparison
from .content import Content
from .evaluation import Breakdown, MetricEvaluation
from .nbest_scores import NBestScores
from .table import format_number, markdown_table, text_table
from .test_set import System
from .word_accuracy import WordAccuracy

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class TitledTable:
    """Rows with a heading and what has to be known to read them; the first row is the header."""

    title: str
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def as_text(tables: Sequence[TitledTable]) -> str:
    """For a terminal."""
    blocks = [[table.title, "", *text_table(table.rows), *table.notes] for table in tables]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def as_markdown(tables: Sequence[TitledTable]) -> str:
    """For a page."""
    blocks = [[f"## {table.title}", "", *markdown_table(table.rows), *with_gaps(table.notes)] for table in tables]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def with_gaps(notes: Sequence[str]) -> list[str]:
    """Notes as paragraphs of their own."""
    return [line for note in notes for line in ("", note)]


def overall_table(metrics: Sequence[MetricEvaluation], baseline: str) -> TitledTable:
    """All systems under all metrics."""
    rows = [["System", *(metric.name + (" (lower is better)" if metric.lower_is_better else "") for metric in metrics)]]
    for index, system in enumerate(metrics[0].overall.systems):
        cells = [metric.overall.systems[index] for metric in metrics]
        rows.append([system.system, *(describe(cell.scores[0], cell.comparisons[0]) for cell in cells)])
    notes = [
        *(f"{metric.name}: {metric.signature}" for metric in metrics),
        *reading_notes(metrics[0].overall, baseline),
    ]
    return TitledTable("Scores", rows, notes)


def breakdown_tables(metric: MetricEvaluation, baseline: str) -> Iterator[TitledTable]:
    """One table for each way of grouping."""
    for breakdown in metric.breakdowns:
        yield breakdown_table(metric, breakdown, baseline)


def breakdown_table(metric: MetricEvaluation, breakdown: Breakdown, baseline: str) -> TitledTable:
    """Groups downwards, systems across.

    Where systems know different words, each has groups of its own, and its counts are in its cells.
    """
    first, *others = breakdown.systems
    shared = all([one.count for one in row.scores] == [one.count for one in first.scores] for row in others)
    rows = [[breakdown.by, *(["sentences"] if shared else []), *(row.system for row in breakdown.systems)]]
    for index, score in enumerate(first.scores):
        cells = []
        for row in breakdown.systems:
            text = describe(row.scores[index], row.comparisons[index])
            cells.append(text if shared else f"{text} [{row.scores[index].count}]")
        rows.append([score.label, *([str(score.count)] if shared else []), *cells])
    notes = list(reading_notes(breakdown, baseline))
    if not shared:
        notes.append("[n]: sentences in the group, by the system's own dictionary.")
    if breakdown.outside:
        notes.append(f"{breakdown.outside} sentences are in no group.")
    return TitledTable(f"{metric.name} by {breakdown.by}", rows, notes)


def describe(score: BucketScore, comparison: Comparison | None) -> str:
    """A score with its interval, its spread over seeds, and a star where it differs from the baseline."""
    if score.mean is None:
        return "no sentences"
    text = f"{score.mean:.2f}"
    if score.deviation is not None:
        text += f" ±{score.deviation:.2f}"
    if score.low is not None and score.high is not None:
        text += f" ({score.low:.1f}–{score.high:.1f})"
    significant = comparison is not None and comparison.p_value is not None and comparison.p_value < SIGNIFICANT
    return text + ("*" if significant else "")


def reading_notes(breakdown: Breakdown, baseline: str) -> Iterator[str]:
    """What the signs in the cells mean, as far as there are any."""
    scores = [score for row in breakdown.systems for score in row.scores]
    if any(score.deviation is not None for score in scores):
        seeds = max(len(score.by_seed) for score in scores)
        yield f"Means of {seeds} seeds ± standard deviation."
    if any(score.low is not None for score in scores):
        yield f"In parentheses: 95% bootstrap interval over sentences, for groups of {FEWEST} or more."
    if any(one and one.p_value is not None for row in breakdown.systems for one in row.comparisons):
        yield f"*: differs from {baseline} (paired bootstrap over sentences, p < {SIGNIFICANT})."


def vocabulary_table(metric: MetricEvaluation, systems: Sequence[System]) -> TitledTable:
    """Systems in the order of the words they know."""
    order = sorted(range(len(systems)), key=lambda index: systems[index].vocabulary_sizes or (0, 0))
    rows = [["System", "source words", "target words", metric.name]]
    for index in order:
        source, target = systems[index].vocabulary_sizes or (None, None)
        row = metric.overall.systems[index]
        sizes = [format_number(size, ",") for size in (source, target)]
        rows.append([row.system, *sizes, describe(row.scores[0], row.comparisons[0])])
    return TitledTable(f"{metric.name} by vocabulary size", rows)


def word_accuracy_table(accuracies: Mapping[str, Sequence[WordAccuracy]]) -> TitledTable:
    """F-measure by training frequency, one column a system."""
    first = next(iter(accuracies.values()))
    rows = [["frequency in training", "words in references", *accuracies]]
    for index, group in enumerate(first):
        cells = [format_number(percent(row[index].f_measure), ".1f") for row in accuracies.values()]
        rows.append([group.label, f"{group.expected:,}", *cells])
    return TitledTable("F-measure of words, in percent", rows, ["Case is ignored."])


def content_table(contents: Mapping[str, Content]) -> TitledTable:
    """Length, repetition and loss, one row a system."""
    rows = [["System", "length ratio", "repeated, %", "surplus, %", "dropped, %"]]
    for system, content in contents.items():
        shares = [
            format_number(percent(share), ".1f") for share in (content.repeated, content.surplus, content.dropped)
        ]
        rows.append([system, format_number(content.length_ratio, ".3f"), *shares])
    reference = percent(next(iter(contents.values())).repeated_in_reference)
    notes = [
        "Length ratio: words in the translations to words in the references. "
        "Repeated: words that repeat the one to four words right before them, of all words in the translations "
        f"({format_number(reference, '.1f')}% in the references). "
        "Surplus: extra copies of content words that the reference has, too. "
        "Dropped: content words of the reference that are missing from the translation.",
    ]
    return TitledTable("Too much and too little", rows, notes)


def nbest_table(metric: MetricEvaluation, found: Mapping[str, NBestScores]) -> TitledTable:
    """What could be reached by choosing from n-best lists, one row a system; a dash beyond the longest list."""
    depths = sorted({depth for scores in found.values() for depth in scores.best_of})
    rows = [["System", "hypotheses", *("first" if n == 1 else f"best of {n}" for n in depths), "first is best, %"]]
    for system, scores in found.items():
        reached = [format_number(scores.best_of.get(depth), ".2f") for depth in depths]
        share = format_number(percent(scores.first_is_best), ".1f")
        rows.append([system, f"{scores.hypotheses:.1f}", *reached, share])
    notes = [
        f"Best of n: {metric.name} of the hypotheses with the highest chrF among the first n of each sentence, chosen "
        "by looking at the reference; it shows how much a better ranking could gain. "
        "Hypotheses: mean number per sentence. "
        "First is best: sentences whose first hypothesis has the highest chrF of its list, ties included.",
    ]
    return TitledTable(f"{metric.name} of the best in the n-best lists", rows, notes)


def percent(share: float | None) -> float | None:
    """A share of one in percent."""
    return None if share is None else 100 * share
