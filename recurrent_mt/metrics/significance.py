"""Paired tests of systems against a baseline: sacrebleu's tests, on statistics that are counted once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric, Signature
from sacrebleu.metrics.base import Score as SacrebleuScore
from sacrebleu.significance import PairedTest, Result

from .sentence_statistics import SEED, Interval, Score, SentenceStatistics, plain_numbers

SEED_VARIABLE = "SACREBLEU_SEED"


@dataclass(frozen=True)
class PairedResult:
    """A system compared with the baseline."""

    name: str
    score: Score  # with its interval, if there is one
    #: of the difference from the baseline; None for the baseline itself, and if there is only one sentence, which
    #: cannot tell a difference from chance
    p_value: float | None

    @property
    def interval(self) -> Interval | None:
        """The score's interval."""
        return self.score.interval


def paired_bootstrap(
    systems: Mapping[str, SentenceStatistics], *, resamples: int = 1000, seed: int = SEED
) -> list[PairedResult]:
    """Paired bootstrap (Koehn 2004, in the form of Moses) of each system against the first one, under one metric.

    Scores, intervals, and p-values are those of ``sacrebleu --paired-bs``, with two exceptions: for systems with equal
    scores, p is 1, where sacrebleu has its smallest value, 1 / (resamples + 1), even for a system against itself; and a
    single sentence has neither interval nor p-value.

    Args:
        systems: name -> statistics of the same sentences, in the same order, under the same metric.
        resamples: for the test and for the intervals.
        seed: at least 1, because sacrebleu takes 0 to mean no seed.

    Raises:
        ValueError: for fewer than two systems, for systems with unequal counts or signatures, and for unusable numbers
            of resamples or seeds.
    """
    signature, results = run_test("bs", systems, resamples, seed)
    scores = [counts.score() for counts in systems.values()]
    for place, result in enumerate(results):
        assert result.mean is not None and result.ci is not None
        interval = Interval(float(result.mean), float(result.ci))
        scores[place] = replace(scores[place], signature=str(signature), interval=interval)
    return pair_results(systems, scores, results)


def paired_randomization(
    systems: Mapping[str, SentenceStatistics], *, resamples: int = 10_000, confidence: int = 0, seed: int = SEED
) -> list[PairedResult]:
    """Paired approximate randomization (Riezler and Maxwell 2005, in the form of multeval) against the first system.

    Like `paired_bootstrap`, with the p-values of ``sacrebleu --paired-ar``; ``resamples`` is how often sentences are
    exchanged at random between two systems, ``confidence`` how many bootstrap resamples an interval of each score has.
    """
    signature, results = run_test("ar", systems, resamples, seed)
    scores = [counts.score(resamples=confidence, seed=seed) for counts in systems.values()]
    if signature:
        signature.update("bs", confidence or None)
        scores = [replace(score, signature=str(signature)) for score in scores]
    return pair_results(systems, scores, results)


def two_sided_p_value(difference: float, resampled: np.ndarray) -> float:
    """The p-value of the paired bootstrap (Koehn 2004), two-sided: for means over seeds and groups of sentences.

    Resampled differences are centered on their mean, as if there were no difference, and the share of them that is at
    least as far from zero as the observed one is counted, one added above and below as in sacrebleu. sacrebleu's own
    test (`paired_bootstrap`) takes the absolute value before it centers: where a difference is clear, that counts one
    tail, about half of this p.

    Args:
        difference: between two systems, or two means over seeds.
        resampled: (resamples,) the same on sentences drawn with replacement, the same ones for both.
    """
    as_far = np.sum(np.abs(resampled - resampled.mean()) >= abs(difference))
    return float(as_far + 1) / (len(resampled) + 1)


def run_test(
    test: str, systems: Mapping[str, SentenceStatistics], resamples: int, seed: int
) -> tuple[Signature | None, list[Result]]:
    """Runs sacrebleu's ``bs`` or ``ar``; None and no results for a single sentence, which cannot be tested."""
    check_systems(systems)
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}: a paired test needs at least 2 (1000 is usual)")
    if seed < 1:
        raise ValueError(f"seed is {seed}: a paired test needs at least 1")
    baseline = next(iter(systems.values()))
    if len(baseline) == 1:
        return None, []
    with resampling_seed(seed):
        runner = PairedTest(
            [(name, counts.rows) for name, counts in systems.items()],  # type: ignore[misc]  # see CountedMetric
            {"metric": CountedMetric(baseline.metric)},
            references=None,
            test_type=test,
            n_samples=resamples,
        )
        signatures, columns = runner()
    # sacrebleu's table for one metric: a column of names, and a column under the metric's printed name.
    (printed_name,) = signatures
    return signatures[printed_name], [result for result in columns[printed_name] if isinstance(result, Result)]


def check_systems(systems: Mapping[str, SentenceStatistics]) -> None:
    """Raises ValueError unless there are at least two systems, scored alike on the same number of sentences."""
    if len(systems) < 2:
        raise ValueError(f"{len(systems)} system: a paired test compares others with the first one")
    (first, baseline), *others = systems.items()
    if not len(baseline):
        raise ValueError("there are no sentences to test")
    for name, counts in others:
        if len(counts) != len(baseline):
            raise ValueError(f"{name} has {len(counts)} sentences, {first} has {len(baseline)}")
        signature, expected = (str(each.metric.get_signature()) for each in (counts, baseline))
        if signature != expected:
            raise ValueError(f"{name} is scored as {signature}, {first} as {expected}")


def pair_results(names: Iterable[str], scores: Sequence[Score], results: Sequence[Result]) -> list[PairedResult]:
    """A result for each system; see `paired_bootstrap` for where p differs from sacrebleu's."""
    values: list[float | None] = [None] * len(scores)
    for place, result in enumerate(results[1:], start=1):
        values[place] = 1.0 if scores[place].value == scores[0].value else result.p_value
    return [PairedResult(*one) for one in zip(names, scores, values, strict=True)]


class CountedMetric(Metric):
    """A metric for `PairedTest` whose "hypotheses" are arrays (N, K) of statistics, so nothing is counted again."""

    def __init__(self, metric: Metric) -> None:
        """``metric`` knows what the rows mean."""
        super().__init__()
        self.metric = metric

    def get_signature(self) -> Signature:
        """The metric's signature."""
        return self.metric.get_signature()

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
        return hypotheses

    def _aggregate_and_compute(self, stats: Any) -> SacrebleuScore:
        return self.metric._compute_score_from_stats(stats.sum(axis=0).tolist())

    def _compute_score_from_stats(self, stats: Any) -> SacrebleuScore:
        return self.metric._compute_score_from_stats(plain_numbers(stats))

    # The base class wants these, too, but only for counting, which is over.
    def _preprocess_segment(self, sent: str) -> str:
        return self.metric._preprocess_segment(sent)

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return self.metric._extract_reference_info(refs)

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        return self.metric._compute_segment_statistics(hypothesis, ref_kwargs)


@contextmanager
def resampling_seed(seed: int) -> Iterator[None]:
    """Sets the seed of sacrebleu's paired tests, which only read it from the environment."""
    before = os.environ.get(SEED_VARIABLE)
    os.environ[SEED_VARIABLE] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[SEED_VARIABLE]
        else:
            os.environ[SEED_VARIABLE] = before
