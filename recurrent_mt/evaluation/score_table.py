"""Scores of translations beside each other: one table as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from ..metrics import Score, SentenceStatistics, paired_bootstrap, paired_randomisation, statistics
from ..metrics.sentence_statistics import SEED, check_resamples
from .table import format_number, markdown_table, text_table

PAIRED_TESTS = {"bootstrap": "paired bootstrap", "randomisation": "paired approximate randomisation"}
"""Name of a test -> what it is called in notes."""


@dataclass(frozen=True)
class Scoring:
    """How translations are scored.

    Attributes:
        metrics: keys of `METRICS`, one or more columns each.
        target_language: chooses the tokenisation where `tokenize` is None.
        tokenize: one of sacrebleu's tokenisations.
        lowercase: ignore case.
        confidence: bootstrap resamples for intervals; 0 for none.
        paired: a key of `PAIRED_TESTS`, or None.
        seed: of all resampling.
    """

    metrics: Sequence[str]
    target_language: str | None = None
    tokenize: str | None = None
    lowercase: bool = False
    confidence: int = 0
    paired: str | None = None
    seed: int = SEED


@dataclass(frozen=True)
class SystemScore:
    """One number of the table.

    Attributes:
        system: its name.
        score: with its interval, if there is one.
        p_value: of the difference from the first system; None without a test, and for the first system.
    """

    system: str
    score: Score
    p_value: float | None = None


def score_systems(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], scoring: Scoring, *, jobs: int = 1
) -> list[list[SystemScore]]:
    """Scores every system under every metric: a list for each metric, in the order of the systems.

    The numbers do not depend on ``jobs``, the processes that count.

    Raises:
        ValueError: as `metrics.statistics`, `SentenceStatistics.score` and the paired tests.
        ModuleNotFoundError: for METEOR without nltk.
    """
    check_resamples(scoring.confidence)
    columns = []
    for metric in scoring.metrics:
        counts = {
            name: statistics(
                metric,
                hypotheses,
                references,
                target_language=scoring.target_language,
                tokenize=scoring.tokenize,
                lowercase=scoring.lowercase,
                jobs=jobs,
            )
            for name, hypotheses in systems.items()
        }
        columns.append(score_column(counts, scoring))
    return columns


def score_column(counts: Mapping[str, SentenceStatistics], scoring: Scoring) -> list[SystemScore]:
    """Scores every system under one metric, with the intervals and tests that are asked for."""
    if scoring.paired is None:
        return [
            SystemScore(name, each.score(resamples=scoring.confidence, seed=scoring.seed))
            for name, each in counts.items()
        ]
    if scoring.paired == "bootstrap":
        results = paired_bootstrap(counts, resamples=scoring.confidence or 1000, seed=scoring.seed)
    else:
        results = paired_randomisation(counts, confidence=scoring.confidence, seed=scoring.seed)
    return [SystemScore(result.name, result.score, result.p_value) for result in results]


def table_rows(columns: Sequence[Sequence[SystemScore]]) -> list[list[str]]:
    """Header and one row a system; ``±`` and ``p`` beside a metric only where some system has them."""
    header, body = ["System"], [[first.system] for first in columns[0]]
    for column in columns:
        intervals = any(each.score.interval for each in column)
        tested = any(each.p_value is not None for each in column)
        header += [column[0].score.name, *(["±"] if intervals else []), *(["p"] if tested else [])]
        for row, each in zip(body, column, strict=True):
            row.append(f"{each.score.value:.2f}")
            if intervals:
                row.append(f"{each.score.interval.half_width:.2f}" if each.score.interval else "–")
            if tested:
                row.append(format_number(each.p_value, ".4f"))
    return [header, *body]


def signatures(columns: Sequence[Sequence[SystemScore]]) -> list[str]:
    """One line for each metric."""
    return [f"{column[0].score.name}: {column[0].score.signature}" for column in columns]


def notes(columns: Sequence[Sequence[SystemScore]], scoring: Scoring) -> list[str]:
    """What the columns mean, as far as the table has them."""
    scores = [each for column in columns for each in column]
    intervals = any(each.score.interval for each in scores)
    tested = any(each.p_value is not None for each in scores)
    lines = []
    if intervals:
        lines.append("±: half of the 95% bootstrap interval over sentences.")
    if scoring.paired and tested:
        lines.append(f"p: {PAIRED_TESTS[scoring.paired]}, against {columns[0][0].system}.")
    if (scoring.confidence or scoring.paired) and not (intervals or tested):
        lines.append("One sentence has no interval and no p-value.")
    if any(each.score.name == "TER" for each in scores):
        lines.append("TER: lower is better.")
    return lines


def as_text(columns: Sequence[Sequence[SystemScore]], scoring: Scoring) -> str:
    """The table for a terminal."""
    lines = text_table(table_rows(columns))
    return "\n".join([*lines, "", *signatures(columns), *notes(columns, scoring), ""])


def as_markdown(columns: Sequence[Sequence[SystemScore]], scoring: Scoring) -> str:
    """The table for a README."""
    items = [*(f"`{line}`" for line in signatures(columns)), *notes(columns, scoring)]
    return "\n".join([*markdown_table(table_rows(columns)), "", *(f"- {item}" for item in items), ""])


def as_json(columns: Sequence[Sequence[SystemScore]], scoring: Scoring) -> str:
    """Everything, unrounded: the options, and one entry for each system and metric."""
    entries = [asdict(each) for column in columns for each in column]
    return json.dumps({"options": asdict(scoring), "scores": entries}, indent=2, ensure_ascii=False) + "\n"
