"""The tables of a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from ..evaluation import MetricEvaluation
from ..evaluation_tables import TitledTable, describe, reading_notes
from ..table import format_number
from ..train_log import GIBIBYTE
from ..training_facts import SPEED_NOTE
from .results import ComparedSystem, Comparison, TestScores

MEMORY_NOTE = "Memory: of the training process at its largest, by the kernel's count; of the seed that took most."
GPU_NOTE = "GPU: what torch had given out at its most, in the updates that fairseq reports; of the seed that took most."


def tables(comparison: Comparison) -> list[TitledTable]:
    """Scores on each test set, then what they cost."""
    return [*(score_table(scores, comparison) for scores in comparison.tests), cost_table(comparison)]


def score_table(scores: TestScores, comparison: Comparison) -> TitledTable:
    """One row a system."""
    columns = [*scores.metrics, *([scores.tokenized] if scores.tokenized else [])]
    names = [metric.name + (" (lower is better)" if metric.lower_is_better else "") for metric in scores.metrics]
    if scores.tokenized:
        names.append(tokenized_name(scores.tokenized))
    rows = [["System", *names], *([system.name, *score_cells(system, columns)] for system in comparison.systems)]
    title = "Scores" if scores.name is None else f"Scores on {scores.name}"
    return TitledTable(title, rows, list(score_notes(scores, comparison)))


def score_cells(system: ComparedSystem, columns: list[MetricEvaluation]) -> list[str]:
    """The scores of a system, or why there are none."""
    rows = [metric.overall.row(system.name) for metric in columns]
    if not all(rows):
        return ["failed" if system.failures else "not yet", *["–"] * (len(columns) - 1)]
    return [describe(row.scores[0], row.comparisons[0]) for row in rows if row]


def tokenized_name(metric: MetricEvaluation) -> str:
    """Of a score on words as the models produced them."""
    return f"{metric.name}, tokenised"


def score_notes(scores: TestScores, comparison: Comparison) -> Iterator[str]:
    """What has to be known to read a table of scores, and what failed."""
    yield f"{scores.sentences:,} sentences."
    yield from (f"{metric.name}: {metric.signature}" for metric in scores.metrics)
    if scores.tokenized:
        yield f"{tokenized_name(scores.tokenized)}: {scores.tokenized.signature}"
    if scores.baseline != comparison.baseline:
        yield f"{comparison.baseline} has no translation: the others are compared with {scores.baseline}."
    yield from reading_notes(scores.metrics[0].overall, scores.baseline)
    for system in comparison.systems:
        for seed, reason in system.failures.items():
            yield f"{system.name}, seed {seed}, failed: {reason.rstrip('.')}."


def cost_table(comparison: Comparison) -> TitledTable:
    """One row a system; columns of what is known of one at least."""
    systems = comparison.systems
    rates = any(system.rate for system in systems)
    gpu = any(system.facts and system.facts.gpu_memory for system in systems)
    header = ["System", *(["rate"] if rates else []), "parameters", "updates", "minutes", "valid. loss", "words/s"]
    header += ["sentences/s", "memory", *(["GPU"] if gpu else [])]
    rows = [header]
    for system in systems:
        rate = [system.rate.chosen if system.rate else "–"] if rates else []
        rows.append([system.name, *rate, *cost_cells(system, gpu=gpu)])
    return TitledTable("Cost", rows, list(cost_notes(comparison, gpu=gpu)))


def cost_cells(system: ComparedSystem, *, gpu: bool) -> list[str]:
    """What a system's trainings and searches took; means over seeds but for memory."""
    facts = system.facts
    if facts is None:
        return ["–"] * (8 if gpu else 7)
    return [
        f"{facts.parameters:,}",
        f"{facts.updates:,.0f}",
        f"{facts.training_seconds / 60:,.1f}",
        format_number(facts.best_valid_loss, ".3f"),
        format_number(facts.words_per_second, ",.0f"),
        format_number(facts.sentences_per_second, ",.1f"),
        gibibytes(facts.peak_memory),
        *([gibibytes(facts.gpu_memory)] if gpu else []),
    ]


def gibibytes(size: float | None) -> str:
    """A number of bytes in units of 2³⁰."""
    return "–" if size is None else f"{size / GIBIBYTE:.2f} GiB"


def cost_notes(comparison: Comparison, *, gpu: bool) -> Iterator[str]:
    """What the columns mean, and how the learning rates were chosen."""
    yield "Minutes: of training, with validations and what a kill has undone. Validation loss: the best, bits a token."
    yield SPEED_NOTE
    yield MEMORY_NOTE
    if gpu:
        yield GPU_NOTE
    if len(comparison.seeds) > 1:
        yield "Means over the seeds, memory apart."
    for system in comparison.systems:
        if system.rate:
            yield f"{system.name}: {system.rate}."


def comparison_as_json(comparison: Comparison) -> str:
    """Everything, unrounded."""
    return json.dumps(asdict(comparison), indent=1, ensure_ascii=False) + "\n"
