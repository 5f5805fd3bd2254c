"""Everything that is counted of systems on one test set: overall, by length, by unknown words, along length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .bucket_scores import RESAMPLES, BucketScore, Comparison, ScoredSystem, compare, score_buckets
from .buckets import SIDES, UNKNOWN_SIDES, Bucketing, by_length, by_unknown_words, known_sentences, whole, within_length
from .length_curve import LengthCurve, length_curve
from .test_set import System, TestSet

#: A curve has many points, each with an interval of its own: fewer resamples than for a table.
CURVE_RESAMPLES = 100
#: Cho et al. (2014b) show sentences of 10 to 20 words by themselves.
LIKE_LENGTHS = (10, 20)


@dataclass(frozen=True)
class Settings:
    """What is asked for.

    Attributes:
        metrics: names of `metrics.METRICS`, each for the whole test set.
        detailed: those of them that are broken down as well.
        tokenize: one of sacrebleu's tokenisations; None chooses by target language.
        resamples: of the bootstrap, for intervals and tests; 0 for neither.
        limits: of the length groups.
        most_unknown: where the last group of unknown words begins.
        window: lengths that a point of a curve covers.
        fewest: sentences below which a point is left out.
        jobs: processes that count; the numbers do not depend on it.
    """

    metrics: Sequence[str] = ("bleu", "chrf", "ter")
    detailed: Sequence[str] = ("bleu",)
    tokenize: str | None = None
    resamples: int = RESAMPLES
    limits: Sequence[int] = (10, 20, 30, 40, 50, 60)
    most_unknown: int = 5
    window: int = 10
    fewest: int = 10
    jobs: int = 1


@dataclass(frozen=True)
class SystemScores:
    """One system's row of a breakdown.

    Attributes:
        system: its name.
        scores: one a bucket.
        comparisons: with the baseline, one a bucket; None where a bucket is empty, where the baseline's bucket holds
            other sentences, and for the baseline itself.
    """

    system: str
    scores: Sequence[BucketScore]
    comparisons: Sequence[Comparison | None]


@dataclass(frozen=True)
class Breakdown:
    """A metric's scores on groups of sentences.

    Attributes:
        by: what the groups were made by.
        outside: sentences in no group.
        systems: one row each; those for which the groups cannot be made are missing.
    """

    by: str
    outside: int
    systems: Sequence[SystemScores]

    def row(self, system: str) -> SystemScores | None:
        """A system's row; None if it has none."""
        return next((row for row in self.systems if row.system == system), None)


@dataclass(frozen=True)
class SystemCurve:
    """A system's score along sentence length."""

    system: str
    curve: LengthCurve


@dataclass(frozen=True)
class MetricEvaluation:
    """One metric.

    Attributes:
        name: as printed, for example ``BLEU``.
        signature: all that decides its numbers.
        lower_is_better: as for TER.
        overall: the whole test set.
        breakdowns: empty where no details were asked for.
        curves: likewise; for each side, one a system.
    """

    name: str
    signature: str
    lower_is_better: bool
    overall: Breakdown
    breakdowns: Sequence[Breakdown] = field(default_factory=list)
    curves: Sequence[SystemCurve] = field(default_factory=list)


def evaluate(test_set: TestSet, systems: Sequence[System], settings: Settings | None = None) -> list[MetricEvaluation]:
    """Scores all systems; the first is the baseline of every test.

    Raises:
        ValueError: if there is no system, two have one name, or a setting makes no sense.
    """
    settings = settings or Settings()
    names = [system.name for system in systems]
    if not names:
        raise ValueError("there is no system to evaluate")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two systems are named {twice!r}: give each a name of its own")
    return [evaluate_metric(metric, test_set, systems, settings) for metric in settings.metrics]


def evaluate_metric(metric: str, test_set: TestSet, systems: Sequence[System], settings: Settings) -> MetricEvaluation:
    """One metric, with its breakdowns and curves if it is among the detailed ones."""
    scored = [
        ScoredSystem(system, test_set, metric, tokenize=settings.tokenize, jobs=settings.jobs) for system in systems
    ]
    breakdowns: list[Breakdown] = []
    curves: list[SystemCurve] = []
    if metric in settings.detailed:
        breakdowns = [
            break_down(scored, bucketings, settings.resamples)
            for bucketings in all_bucketings(test_set, systems, settings)
        ]
        resamples = min(settings.resamples, CURVE_RESAMPLES)
        curves = [
            SystemCurve(
                one.system.name,
                length_curve(one, test_set, side, window=settings.window, fewest=settings.fewest, resamples=resamples),
            )
            for side in sides(test_set)
            for one in scored
        ]
    overall = break_down(scored, [whole(test_set)] * len(systems), settings.resamples)
    return MetricEvaluation(
        scored[0].total.name, scored[0].total.signature, scored[0].lower_is_better, overall, breakdowns, curves
    )


def sides(test_set: TestSet) -> Sequence[str]:
    """The sides whose words can be counted."""
    return SIDES if test_set.source else ("reference",)


def all_bucketings(
    test_set: TestSet, systems: Sequence[System], settings: Settings
) -> Iterator[Sequence[Bucketing | None]]:
    """For each breakdown, the groups of each system; unknown words are counted by its own dictionaries."""
    for side in sides(test_set):
        yield [by_length(test_set, side, settings.limits)] * len(systems)
    if not any(system.unknown for system in systems):
        return
    for side in UNKNOWN_SIDES:
        yield [
            by_unknown_words(system.unknown, side, settings.most_unknown) if system.unknown else None
            for system in systems
        ]
    low, high = LIKE_LENGTHS
    yield [
        within_length(by_unknown_words(system.unknown, "either", settings.most_unknown), test_set, low, high)
        if system.unknown
        else None
        for system in systems
    ]
    yield [known_sentences(system.unknown) if system.unknown else None for system in systems]


def break_down(scored: Sequence[ScoredSystem], bucketings: Sequence[Bucketing | None], resamples: int) -> Breakdown:
    """Scores each system on its groups, and compares with the first where the groups are the same."""
    rows = []
    baseline, baseline_bucketing = scored[0], bucketings[0]
    for one, bucketing in zip(scored, bucketings, strict=True):
        if bucketing is None:
            continue
        comparisons: list[Comparison | None] = [None] * len(bucketing.buckets)
        if one is not baseline and bucketing == baseline_bucketing and resamples:
            comparisons = [
                compare(one, baseline, bucket.sentences, resamples=resamples) for bucket in bucketing.buckets
            ]
        rows.append(SystemScores(one.system.name, score_buckets(one, bucketing, resamples=resamples), comparisons))
    known = next(bucketing for bucketing in bucketings if bucketing)
    return Breakdown(known.by, known.outside, rows)
