"""Scores of systems on one test set: whole, by groups of sentences, along length; with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt

import numpy as np
import pandas

from ..metrics import (
    SentenceStatistics,
    bootstrap_p_value,
    estimate_interval,
    randomization_p_value,
    resample_scores,
    sign_systems,
)
from ..metrics.sentence_statistics import SEED, check_resamples
from ..metrics.significance import TRIALS
from .tables import ALL, Record, make_frame
from .test_set import (
    SIDES,
    UNKNOWN_SIDES,
    Bucketing,
    System,
    TestSet,
    UnknownWords,
    by_length,
    by_unknown_words,
    by_window,
    known_sentences,
    within_length,
)

RESAMPLES = 1000
#: A curve has many points, each with an interval of its own: fewer resamples than for a table.
CURVE_RESAMPLES = 100
#: What intervals and tests are called wherever they are shown. They are sacrebleu's; of several seeds, their means'.
INTERVAL, PAIRED_BOOTSTRAP = "95% bootstrap interval over sentences", "paired bootstrap over sentences"
#: Name of a test of the difference from the baseline -> what it is called in notes.
PAIRED_TESTS = {"bootstrap": PAIRED_BOOTSTRAP, "randomization": "paired approximate randomization"}
#: In a group of fewer sentences a bootstrap says nothing: no interval, no test. A whole test set has both, as with
#: sacrebleu, unless it is one sentence.
FEWEST = 10
#: Degrees of freedom -> standard errors from which on a difference is called one: the 97.5% quantile of Student's t.
#: Between two entries, that of fewer degrees holds.
STUDENT = {
    **{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228},
    **{12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000},
}
#: Cho et al. (2014b) show sentences of 10 to 20 words by themselves.
LIKE_LENGTHS = (10, 20)


@dataclass(frozen=True)
class Settings:
    """What is asked for."""

    metrics: Sequence[str] = ("bleu", "chrf", "ter")  # names of `metrics.METRICS`, each for the whole test set
    detailed: Sequence[str] = ("bleu",)  # those of them that are broken down as well
    tokenize: str | None = None  # one of sacrebleu's tokenizations; None chooses by target language
    resamples: int = RESAMPLES  # of the bootstrap, for intervals and its test; 0 for neither
    paired: str | None = "bootstrap"  # a key of `PAIRED_TESTS`: the test of the difference from the baseline
    seed: int = SEED  # of all resampling
    limits: Sequence[int] = (10, 20, 30, 40, 50, 60)  # of the length groups
    most_unknown: int = 5  # where the last group of unknown words begins
    window: int = 10  # lengths that a point of a curve covers
    fewest: int = 10  # sentences below which a point is left out
    jobs: int = 1  # processes that count; the numbers do not depend on it


@dataclass(frozen=True)
class Scores:
    """What was counted, and for each metric's printed name all that decides its numbers, in the order asked for."""

    records: pandas.DataFrame
    signatures: Mapping[str, str]
    #: by metric, system and seed: what else the metric says of the whole test set, such as precisions of n-grams
    details: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)


def score_systems(test_set: TestSet, systems: Sequence[System], settings: Settings | None = None) -> Scores:
    """Scores all systems; the first is the baseline of every test.

    Raises:
        ValueError: if there is no system, two have one name, or a setting makes no sense.
    """
    settings = settings or Settings()
    check_resamples(settings.resamples)
    names = [system.name for system in systems]
    if not names:
        raise ValueError("there is no system to evaluate")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two systems are named {twice!r}: give each a name of its own")
    check_test(settings, systems)
    everything = Bucketing(ALL, {ALL: range(len(test_set))})
    records: list[Record] = []
    signatures, details = {}, {}
    for metric in settings.metrics:
        counted = [CountedSystem(one, test_set, metric, settings) for one in systems]
        name = counted[0].metric
        signatures[name] = sign_counted(counted, settings if len(test_set) > 1 else None)
        details[name] = {one.name: one.details for one in counted}
        records += score_groups(counted, [everything] * len(systems), settings.resamples)
        if metric in settings.detailed:
            for groups in all_groups(test_set, systems, settings):
                records += score_groups(counted, groups, settings.resamples)
            for side in countable_sides(test_set):
                curve = by_window(test_set, side, window=settings.window, fewest=settings.fewest)
                resamples = min(settings.resamples, CURVE_RESAMPLES)
                records += score_groups(counted, [curve] * len(systems), resamples, test=False)
    return Scores(make_frame(records), signatures, details)


def check_test(settings: Settings, systems: Sequence[System]) -> None:
    """Raises ValueError if the test that is asked for cannot be run."""
    if settings.paired and settings.seed < 1:
        raise ValueError(f"seed is {settings.seed}: a paired test needs at least 1, because sacrebleu's 0 means none")
    several = [system.name for system in systems if len(system.translations) > 1]
    if settings.paired == "randomization" and several:
        raise ValueError(f"{several[0]} has several seeds: randomization exchanges sentences of two translations")


def all_groups(
    test_set: TestSet, systems: Sequence[System], settings: Settings
) -> Iterator[Sequence[Bucketing | None]]:
    """For each way of grouping, the groups of each system; unknown words are counted by its own dictionaries."""
    for side in countable_sides(test_set):
        yield [by_length(test_set, side, settings.limits)] * len(systems)
    counts = [system.unknown for system in systems]
    if not any(counts):
        return
    most = settings.most_unknown
    ways: list[Callable[[UnknownWords], Bucketing]] = [
        *(partial(by_unknown_words, side=side, most=most) for side in UNKNOWN_SIDES),
        lambda unknown: within_length(by_unknown_words(unknown, "either", most), test_set, *LIKE_LENGTHS),
        known_sentences,
    ]
    for group in ways:
        yield [group(unknown) if unknown else None for unknown in counts]


def countable_sides(test_set: TestSet) -> Sequence[str]:
    """The sides whose words can be counted."""
    return SIDES if test_set.source else ("reference",)


class CountedSystem:
    """A system with its sentences counted once, so that any number of subsets is scored quickly.

    Attributes:
        name: of the system.
        metric: as printed.
        settings: that it is scored with.
        statistics: by seed.
        details: by seed, what else the metric says.
    """

    def __init__(self, system: System, test_set: TestSet, metric: str, settings: Settings) -> None:
        """Counts every seed's translations.

        Raises:
            ValueError: if a seed has not as many translations as there are references.
        """
        self.name = system.name
        self.settings = settings
        self.statistics: dict[str, SentenceStatistics] = {}
        self.drawn: dict[tuple[tuple[int, ...], int], np.ndarray] = {}
        for seed, translations in system.translations.items():
            if len(translations) != len(test_set):
                raise ValueError(
                    f"{system.name}, seed {seed}: {len(translations)} translations for {len(test_set)} references"
                )
            self.statistics[seed] = test_set.count(metric, translations, tokenize=settings.tokenize, jobs=settings.jobs)
        scores = {seed: rows.score() for seed, rows in self.statistics.items()}
        self.metric = next(iter(scores.values())).name
        self.details = {seed: one.details for seed, one in scores.items() if one.details}

    def score_seeds(self, sentences: Sequence[int]) -> dict[str, float]:
        """The score of each seed on these sentences; empty if there are none."""
        if not len(sentences):
            return {}
        return {seed: rows.select(sentences).score().value for seed, rows in self.statistics.items()}

    def resample_means(self, sentences: Sequence[int], resamples: int) -> np.ndarray:
        """(resamples,): the mean over seeds on sentences drawn with replacement, see `metrics.resample_scores`.

        Remembered: an interval and each test ask for the same.
        """
        key = tuple(sentences), resamples
        if key not in self.drawn:
            chosen = [rows.select(sentences) for rows in self.statistics.values()]
            self.drawn[key] = resample_scores(chosen, resamples, self.settings.seed)
        return self.drawn[key]

    def test_difference(self, baseline: CountedSystem, sentences: Sequence[int], resamples: int) -> float | None:
        """The p-value of the difference from the baseline on these sentences; None without a test."""
        if self.settings.paired == "randomization":
            pair = [next(iter(one.statistics.values())).select(sentences) for one in (self, baseline)]
            return randomization_p_value(*pair, seed=self.settings.seed)
        if not (self.settings.paired and resamples):
            return None
        mean, expected = (float(np.mean(list(one.score_seeds(sentences).values()))) for one in (self, baseline))
        drawn = (one.resample_means(sentences, resamples) for one in (self, baseline))
        return bootstrap_p_value(mean - expected, *drawn)


def sign_counted(systems: Sequence[CountedSystem], settings: Settings | None) -> str:
    """What decides the numbers of these systems under their metric; without settings, nothing is resampled."""
    counts = [rows for one in systems for rows in one.statistics.values()]
    if settings is None:
        return sign_systems(counts)
    trials = TRIALS if settings.paired == "randomization" else None
    resampled = settings.resamples or trials
    return sign_systems(counts, bs=settings.resamples or None, ar=trials, seed=settings.seed if resampled else None)


def score_groups(
    counted: Sequence[CountedSystem], groups: Sequence[Bucketing | None], resamples: int, *, test: bool = True
) -> Iterator[Record]:
    """Scores each system on its groups, if it has any; the first is the baseline where the groups are the same."""
    for one, own in zip(counted, groups, strict=True):
        baseline = counted[0] if test and one is not counted[0] and own == groups[0] else None
        if own is None:
            continue
        blank = Record(one.name, one.metric, None, by=own.by, group=own.group, side=own.side)
        for label, sentences in own.buckets.items():
            bucket = replace(blank, bucket=label, n=len(sentences))
            yield from score_bucket(bucket, one, sentences, resamples, baseline)


def score_bucket(
    blank: Record, counted: CountedSystem, sentences: Sequence[int], resamples: int, baseline: CountedSystem | None
) -> Iterator[Record]:
    """The score of each seed, then that over all seeds with interval, spread and test, where there are any."""
    by_seed = counted.score_seeds(sentences)
    for seed, value in by_seed.items():
        yield replace(blank, seed=seed, value=value)
    if not by_seed:
        yield blank
        return
    values = list(by_seed.values())
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    total = replace(blank, value=float(np.mean(values)), sd=deviation)
    if len(sentences) >= (2 if blank.by == ALL else FEWEST):
        if resamples:
            interval = estimate_interval(counted.resample_means(sentences, resamples))
            total = replace(total, low=interval.low, high=interval.high)
        if baseline:
            total = replace(total, p=counted.test_difference(baseline, sentences, resamples))
    yield total


@dataclass(frozen=True)
class SeedNoise:
    """The spread of scores among seeds of one system.

    Two or three seeds say little of their own system's spread; under the assumption that all systems have the same, all
    of them estimate it together.
    """

    deviation: float  # pooled standard deviation
    degrees: int  # of freedom that it rests on

    @property
    def standard_errors(self) -> float:
        """How many standard errors make a difference: more where few seeds say what the error is."""
        return STUDENT[max(degrees for degrees in STUDENT if degrees <= self.degrees)]

    def tells_apart(self, difference: float, seeds: Sequence[int]) -> bool:
        """Whether two means over so many seeds are further apart than `standard_errors` of their difference."""
        return abs(difference) > self.standard_errors * self.deviation * sqrt(sum(1 / count for count in seeds))


def pool_seed_noise(records: pandas.DataFrame, metric: str) -> SeedNoise | None:
    """Pools the systems; None if none has two seeds."""
    chosen = records[(records["metric"] == metric) & (records["by"] == ALL) & (records["seed"] != "")]
    seeds = chosen.groupby("system")["value"].agg(["count", "var"])
    degrees = int((seeds["count"] - 1).sum())
    return SeedNoise(sqrt(((seeds["count"] - 1) * seeds["var"]).sum() / degrees), degrees) if degrees else None
