"""Scores of groups of sentences, with intervals, spread over seeds, and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..metrics import Score, SentenceStatistics, statistics
from .buckets import Bucketing
from .test_set import System, TestSet

RESAMPLES = 1000
#: Below so many sentences a bootstrap says nothing: no interval, no test.
FEWEST = 10
LOWER_IS_BETTER = {"ter"}


@dataclass(frozen=True)
class BucketScore:
    """A system's score on some sentences.

    Attributes:
        label: of the bucket.
        count: sentences in it.
        by_seed: the score of each seed's translations; empty where the bucket is.
        low: lower end of the 95% bootstrap interval over sentences, of the mean over seeds; None below `FEWEST`
            sentences.
        high: upper end.
    """

    label: str
    count: int
    by_seed: Mapping[str, float]
    low: float | None = None
    high: float | None = None

    @property
    def mean(self) -> float | None:
        """Mean over seeds; None for an empty bucket."""
        return float(np.mean(list(self.by_seed.values()))) if self.by_seed else None

    @property
    def deviation(self) -> float | None:
        """Standard deviation over seeds (n − 1 in the denominator); None with fewer than two."""
        return float(np.std(list(self.by_seed.values()), ddof=1)) if len(self.by_seed) > 1 else None


@dataclass(frozen=True)
class Comparison:
    """One system against another on some sentences.

    Attributes:
        difference: of the means over seeds.
        p_value: of the paired bootstrap (Koehn 2004), two-sided; None below `FEWEST` sentences.
    """

    difference: float
    p_value: float | None


class ScoredSystem:
    """A system with its sentences counted once, so that any number of subsets is scored quickly."""

    def __init__(
        self, system: System, test_set: TestSet, metric: str, *, tokenize: str | None = None, jobs: int = 1
    ) -> None:
        """Counts every seed's translations.

        Raises:
            ValueError: if a seed has not as many translations as there are references.
        """
        self.system = system
        self.metric = metric
        self.statistics: dict[str, SentenceStatistics] = {}
        self.drawn: dict[tuple[tuple[int, ...], int], np.ndarray] = {}
        for seed, translations in system.translations.items():
            if len(translations) != len(test_set):
                raise ValueError(
                    f"{system.name}, seed {seed}: {len(translations)} translations for {len(test_set)} references"
                )
            self.statistics[seed] = statistics(
                metric,
                translations,
                test_set.reference,
                target_language=test_set.target_language,
                tokenize=tokenize,
                lowercase=test_set.lowercase,
                jobs=jobs,
            )

    @cached_property
    def total(self) -> Score:
        """The first seed's score on the whole test set; its name and signature are those of the metric."""
        return next(iter(self.statistics.values())).score()

    @property
    def lower_is_better(self) -> bool:
        """As for edit rates."""
        return self.metric in LOWER_IS_BETTER

    def scores(self, sentences: Sequence[int]) -> dict[str, float]:
        """The score of each seed on these sentences; empty if there are none."""
        if not len(sentences):
            return {}
        return {seed: rows.select(sentences).score().value for seed, rows in self.statistics.items()}

    def resampled_means(self, sentences: Sequence[int], resamples: int) -> np.ndarray:
        """(resamples,): the mean over seeds on sentences drawn with replacement.

        The same numbers are drawn for all systems and seeds, so that differences are paired. Remembered: an interval
        and each comparison ask for the same.
        """
        key = tuple(sentences), resamples
        if key not in self.drawn:
            columns = [
                [rows.score_of_sum(total).score for total in rows.select(sentences).resampled_sums(resamples)]
                for rows in self.statistics.values()
            ]
            self.drawn[key] = np.mean(columns, axis=0)
        return self.drawn[key]


def score_buckets(scored: ScoredSystem, bucketing: Bucketing, *, resamples: int = RESAMPLES) -> list[BucketScore]:
    """The score of each bucket; an empty one has no score, and one below `FEWEST` sentences no interval."""
    results = []
    for bucket in bucketing.buckets:
        low = high = None
        if resamples and len(bucket.sentences) >= FEWEST:
            low, high = map(float, np.percentile(scored.resampled_means(bucket.sentences, resamples), [2.5, 97.5]))
        results.append(BucketScore(bucket.label, len(bucket.sentences), scored.scores(bucket.sentences), low, high))
    return results


def compare(
    scored: ScoredSystem, baseline: ScoredSystem, sentences: Sequence[int], *, resamples: int = RESAMPLES
) -> Comparison | None:
    """A system against a baseline on the same sentences; None if there are none.

    The p-value is the share of resamples whose difference is at least as far from its mean over resamples as the
    observed one is from zero, one added above and below as in sacrebleu.
    """
    if not len(sentences):
        return None
    means = [float(np.mean(list(one.scores(sentences).values()))) for one in (scored, baseline)]
    difference = means[0] - means[1]
    if len(sentences) < FEWEST:
        return Comparison(difference, None)
    drawn = scored.resampled_means(sentences, resamples) - baseline.resampled_means(sentences, resamples)
    as_far = np.sum(np.abs(drawn - drawn.mean()) >= abs(difference))
    return Comparison(difference, float(as_far + 1) / (resamples + 1))
