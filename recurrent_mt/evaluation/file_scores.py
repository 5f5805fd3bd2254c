"""Scores of translations in files, with sacrebleu's intervals and paired tests: what `score` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike

from ..metrics import PairedResult, SentenceStatistics, paired_bootstrap, paired_randomization
from ..metrics.sentence_statistics import SEED, check_resamples
from .records import Record, make_frame
from .score_tables import LOWER_IS_BETTER
from .scores import INTERVAL, PAIRED_BOOTSTRAP, RESAMPLES
from .tables import Cell, Table, format_number, mark_best, number_cell, write_results
from .test_set import TestSet

#: Name of a test -> what it is called in notes.
PAIRED_TESTS = {"bootstrap": PAIRED_BOOTSTRAP, "randomization": "paired approximate randomization"}


@dataclass(frozen=True)
class Scoring:
    """How translations are scored."""

    metrics: Sequence[str]  # keys of `METRICS`, one or more columns each
    target_language: str | None = None  # chooses the tokenization where `tokenize` is None
    tokenize: str | None = None  # one of sacrebleu's tokenizations
    lowercase: bool = False  # ignore case
    confidence: int = 0  # bootstrap resamples for intervals; 0 for none
    paired: str | None = None  # a key of `PAIRED_TESTS`, or None
    seed: int = SEED  # of all resampling


@dataclass(frozen=True)
class FileScores:
    """Every system under every metric: how they were scored, and for each metric a result of each system."""

    scoring: Scoring
    columns: Sequence[Sequence[PairedResult]]

    def table(self) -> Table:
        """One row a system; ``±`` and ``p`` beside a metric only where some system has them."""
        header, columns = ["System"], []
        for results in self.columns:
            metric = results[0].score.name
            cells = [number_cell(result.score.value, ".2f") for result in results]
            header.append(metric)
            columns.append(mark_best(cells, lower_is_better=metric in LOWER_IS_BETTER))
            spreads = [result.interval.half_width if result.interval else None for result in results]
            for name, numbers, form in (("±", spreads, ".2f"), ("p", [result.p_value for result in results], ".4f")):
                if any(number is not None for number in numbers):
                    header.append(name)
                    columns.append([Cell(format_number(number, form)) for number in numbers])
        names = [result.name for result in self.columns[0]]
        signatures = [f"{results[0].score.name}: {results[0].score.signature}" for results in self.columns]
        return Table("", header, names, list(zip(*columns)), list(self.notes(header)), signatures, "column")

    def notes(self, header: Sequence[str]) -> Iterator[str]:
        """What the columns mean, as far as the table has them."""
        if "±" in header:
            yield f"±: half of the {INTERVAL}."
        if self.scoring.paired and "p" in header:
            yield f"p: {PAIRED_TESTS[self.scoring.paired]}, against {self.columns[0][0].name}."
        if (self.scoring.confidence or self.scoring.paired) and not {"±", "p"} & set(header):
            yield "One sentence has no interval and no p-value."
        yield from (f"{name}: lower is better." for name in LOWER_IS_BETTER if name in header)

    def write(self, prefix: str | PathLike[str]) -> None:
        """Writes ``PREFIX.txt``, ``PREFIX.md`` and ``PREFIX.json``."""
        results = [result for column in self.columns for result in column]
        records = [
            Record(
                one.name,
                one.score.name,
                one.score.value,
                low=one.interval.low if one.interval else None,
                high=one.interval.high if one.interval else None,
                p=one.p_value,
            )
            for one in results
        ]
        scores = [{"system": one.name, "score": asdict(one.score), "p_value": one.p_value} for one in results]
        write_results(prefix, [self.table()], make_frame(records), options=asdict(self.scoring), scores=scores)


def score_files(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], scoring: Scoring, *, jobs: int = 1
) -> FileScores:
    """Scores every system under every metric.

    The numbers do not depend on ``jobs``, the processes that count.

    Raises:
        ValueError: as `metrics.statistics`, `SentenceStatistics.score` and the paired tests.
        ModuleNotFoundError: for METEOR without nltk.
    """
    check_resamples(scoring.confidence)
    test_set = TestSet(references, scoring.target_language or "", scoring.lowercase)
    columns = []
    for metric in scoring.metrics:
        counts = {
            name: test_set.count(metric, hypotheses, tokenize=scoring.tokenize, jobs=jobs)
            for name, hypotheses in systems.items()
        }
        columns.append(score_column(counts, scoring))
    return FileScores(scoring, columns)


def score_column(counts: Mapping[str, SentenceStatistics], scoring: Scoring) -> list[PairedResult]:
    """Every system under one metric, with the intervals and tests that are asked for."""
    resamples, seed = scoring.confidence, scoring.seed
    if scoring.paired == "bootstrap":
        return paired_bootstrap(counts, resamples=resamples or RESAMPLES, seed=seed)
    if scoring.paired:
        return paired_randomization(counts, confidence=resamples, seed=seed)
    return [PairedResult(name, each.score(resamples=resamples, seed=seed), None) for name, each in counts.items()]
