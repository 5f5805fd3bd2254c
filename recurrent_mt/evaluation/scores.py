"""Scores of systems on one test set: of the whole and of groups of its sentences, with intervals and paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pandas

from ..metrics import (
    SEED,
    SentenceStatistics,
    check_resamples,
    estimate_interval,
    randomization_p_value,
    resample_scores,
    sign_systems,
)
from .tables import ALL, FEWEST, Group, Record, make_frame
from .translated_files import System, TestSet, UnknownWords

RESAMPLES = 1000
#: A curve has many points, each with an interval of its own: fewer resamples than for a table.
CURVE_RESAMPLES = 100
#: Cho et al. (2014b) show sentences of 10 to 20 words by themselves.
LIKE_LENGTHS = (10, 20)
SIDES = ("source", "reference", "both")
UNKNOWN_SIDES = ("source", "reference", "either")


@dataclass(frozen=True)
class Settings:
    """What is asked for.

    Raises:
        ValueError: if a metric is to be broken down that is not asked for.
    """

    metrics: Sequence[str] = ("bleu", "chrf", "ter")  # names of `metrics.METRICS`, each for the whole test set
    detailed: Sequence[str] | None = None  # those of them that are broken down as well; None: BLEU, else the first
    tokenize: str | None = None  # one of sacrebleu's tokenizations; None chooses by target language
    resamples: int = RESAMPLES  # of the bootstrap for intervals, and trials of the test; 0 for neither
    paired: bool = True  # whether differences from the baseline are tested
    seed: int = SEED  # of all resampling
    limits: Sequence[int] = (10, 20, 30, 40, 50, 60)  # of the length groups
    most_unknown: int = 5  # where the last group of unknown words begins
    window: int = 10  # lengths that a point of a curve covers
    fewest: int = 10  # sentences below which a point is left out
    jobs: int = 1  # processes that count; the numbers do not depend on it

    def __post_init__(self) -> None:
        if others := [name for name in self.detailed or () if name not in self.metrics]:
            metrics = ", ".join(self.metrics)
            raise ValueError(f"{others[0]} cannot be broken down: it is not among the metrics {metrics}")

    @property
    def broken_down(self) -> Sequence[str]:
        """The metrics that are broken down."""
        if self.detailed is None:
            return ["bleu"] if "bleu" in self.metrics else self.metrics[:1]
        return self.detailed


@dataclass(frozen=True)
class Scores:
    """What was counted, and for each metric's printed name all that decides its numbers, in the order asked for."""

    records: pandas.DataFrame
    signatures: Mapping[str, str]
    #: by metric, system and seed: what else the metric says of the whole test set, such as precisions of n-grams
    details: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    #: by metric: the systems with their sentences counted, to score and test what else is asked for
    counted: Mapping[str, Sequence[CountedSystem]] = field(default_factory=dict)


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
    everything = Bucketing(ALL, {ALL: range(len(test_set))})
    records: list[Record] = []
    signatures, details, by_metric = {}, {}, {}
    for metric in settings.metrics:
        counted = [CountedSystem(one, test_set, metric, settings) for one in systems]
        name = counted[0].metric
        signatures[name] = sign_counted(counted, test_set, settings)
        details[name] = {one.name: one.details for one in counted}
        by_metric[name] = counted
        records += score_groups(counted, [everything] * len(systems), settings.resamples)
        if metric in settings.broken_down:
            for groups in all_groups(test_set, systems, settings):
                records += score_groups(counted, groups, settings.resamples)
            for side in countable_sides(test_set):
                curve = by_window(test_set, side, window=settings.window, fewest=settings.fewest)
                resamples = min(settings.resamples, CURVE_RESAMPLES)
                records += score_groups(counted, [curve] * len(systems), resamples, test=False)
    return Scores(make_frame(records), signatures, details, by_metric)


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
    for side in UNKNOWN_SIDES:
        yield [by_unknown_words(unknown, side, most) if unknown else None for unknown in counts]
    either = [by_unknown_words(unknown, "either", most) if unknown else None for unknown in counts]
    yield [within_length(groups, test_set, *LIKE_LENGTHS) if groups else None for groups in either]
    yield [known_sentences(unknown) if unknown else None for unknown in counts]


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

    def select(self, sentences: Sequence[int]) -> list[SentenceStatistics]:
        """The statistics of some sentences only, of each seed."""
        return [rows.select(sentences) for rows in self.statistics.values()]

    def resample_means(self, sentences: Sequence[int], resamples: int) -> np.ndarray:
        """(resamples,): the mean over seeds on sentences drawn with replacement, see `metrics.resample_scores`."""
        return resample_scores(self.select(sentences), resamples, self.settings.seed)

    def test_difference(self, baseline: CountedSystem, sentences: Sequence[int], resamples: int) -> float | None:
        """The p-value of the difference from the baseline on these sentences; None without a test."""
        if not (self.settings.paired and resamples):
            return None
        pair = self.select(sentences), baseline.select(sentences)
        return randomization_p_value(*pair, trials=resamples, seed=self.settings.seed)


def sign_counted(systems: Sequence[CountedSystem], test_set: TestSet, settings: Settings) -> str:
    """What decides the numbers of these systems under their metric; of one sentence, nothing is resampled."""
    counts = [rows for one in systems for rows in one.statistics.values()]
    if not settings.resamples or len(test_set) == 1:
        return sign_systems(counts)
    trials = settings.resamples if settings.paired and len(systems) > 1 else None
    return sign_systems(counts, bs=settings.resamples, ar=trials, seed=settings.seed)


def score_groups(
    counted: Sequence[CountedSystem], groups: Sequence[Bucketing | None], resamples: int, *, test: bool = True
) -> Iterator[Record]:
    """Scores each system on its groups, if it has any; the first is the baseline where the groups are the same."""
    shared = all(own == groups[0] for own in groups if own is not None)
    for one, own in zip(counted, groups, strict=True):
        baseline = counted[0] if test and one is not counted[0] and own == groups[0] else None
        if own is None:
            continue
        blank = Record(one.name, one.metric, None, by=own.by, group=own.group, side=own.side, shared=shared)
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
    total = replace(blank, value=float(np.mean(values)), sd=find_deviation(values))
    if len(sentences) >= (2 if blank.by == ALL else FEWEST):
        if resamples:
            interval = estimate_interval(counted.resample_means(sentences, resamples))
            total = replace(total, low=interval.low, high=interval.high)
        if baseline:
            total = replace(total, p=counted.test_difference(baseline, sentences, resamples))
    yield total


def find_deviation(values: Sequence[float]) -> float | None:
    """The standard deviation among seeds; None of a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


@dataclass(frozen=True)
class Bucketing:
    """Groups of sentences: their labels, in order, with the positions of their sentences in the test set.

    A sentence is in one of them, or, where two sides have to agree, in one or none; in a curve's, in any number.
    """

    by: str  # what they were made by, for example ``source length``
    buckets: Mapping[str, Sequence[int]]
    group: str = ""  # `Record.group` and `Record.side` of their scores
    side: str = ""


def by_window(test_set: TestSet, side: str, *, window: int = 10, fewest: int = 10) -> Bucketing:
    """The sentences of each point of a curve along length, labeled with the length in the middle; groups overlap.

    The point at length n covers the lengths n − ⌊(window − 1) / 2⌋ to n + ⌊window / 2⌋ (10: from n − 4 to n + 5). With
    ``both``, a sentence belongs to a point if both its sides do. Points run from the least length that occurs to the
    greatest; those with fewer than ``fewest`` sentences are left out.
    """
    sentences = count_words(test_set, side)
    shortest = min((min(lengths) for lengths in sentences), default=0)
    longest = max((max(lengths) for lengths in sentences), default=0)
    points = {}
    for middle in range(max(shortest, 1), longest + 1):
        low, high = middle - (window - 1) // 2, middle + window // 2
        members = [number for number, lengths in enumerate(sentences) if low <= min(lengths) and max(lengths) <= high]
        if len(members) >= fewest:
            points[str(middle)] = members
    return Bucketing(f"along {side} length", points, Group.CURVE, side)


def by_length(test_set: TestSet, side: str, limits: Sequence[int] = (10, 20, 30, 40, 50, 60)) -> Bucketing:
    """Groups by length: up to each limit, and above the last; 0 is a group of its own if there are such sentences.

    Args:
        test_set: what to group.
        side: ``source``, ``reference``, or ``both``: then a sentence counts where both sides fall into the same group
            (Cho et al. 2014b select sentences of 10 to 20 words that way).
        limits: the greatest length of each group, increasing.

    Raises:
        ValueError: if limits do not increase.
    """
    if not limits or limits[0] < 0 or any(low >= high for low, high in pairwise(limits)):
        raise ValueError(f"limits of length must increase: {list(limits)}")
    sentences = count_words(test_set, side)
    shows_empty = limits[0] == 0 or any(not any(lengths) for lengths in sentences)
    limits = [0, *limits] if limits[0] > 0 else limits
    labels = [
        *(f"{low + 1}–{high}" if low + 1 < high else f"{high}" for low, high in zip([0, *limits], limits)),
        f"over {limits[-1]}",
    ]
    groups = [{sum(length > limit for limit in limits) for length in lengths} for lengths in sentences]
    places = [group.pop() if len(group) == 1 else None for group in groups]
    buckets = collect_groups(labels, places)
    if not shows_empty:
        del buckets[labels[0]]
    return Bucketing(f"{side} length", buckets, Group.LENGTH, side)


def count_words(test_set: TestSet, side: str) -> list[tuple[int, ...]]:
    """Words of each sentence on one side or on both, the end of sentence not counted."""
    words = {"source": [test_set.source_words], "reference": [test_set.reference_words]}
    words["both"] = words["source"] + words["reference"]
    return [tuple(map(len, sentences)) for sentences in zip(*words[side], strict=True)]


def by_unknown_words(unknown: UnknownWords, side: str, most: int = 5) -> Bucketing:
    """Groups by the number of unknown words: 0, 1, … and `most` or more.

    Args:
        unknown: the counts of the model's own dictionaries.
        side: ``source``, ``reference`` or ``either``: the greater of the two counts.
        most: where the last group begins.
    """
    counts = map(max, zip(unknown.source, unknown.reference)) if side == "either" else getattr(unknown, side)
    labels = [*map(str, range(most)), f"{most} or more"]
    buckets = collect_groups(labels, [min(count, most) for count in counts])
    return Bucketing(f"unknown words, {side}", buckets, Group.UNKNOWN_WORDS, side)


def within_length(bucketing: Bucketing, test_set: TestSet, shortest: int, longest: int) -> Bucketing:
    """The same groups without the sentences whose source (reference, without one) is shorter or longer.

    Long sentences have more unknown words; among sentences of like length the two are not mixed up.
    """
    lengths = count_words(test_set, "source" if test_set.source else "reference")
    kept = {number for number, (length,) in enumerate(lengths) if shortest <= length <= longest}
    buckets = {
        label: [number for number in sentences if number in kept] for label, sentences in bucketing.buckets.items()
    }
    return replace(bucketing, by=f"{bucketing.by}, {shortest}–{longest} words", buckets=buckets)


def known_sentences(unknown: UnknownWords) -> Bucketing:
    """All sentences, and those without an unknown word on either side: the papers' rows All and No UNK."""
    known = [number for number, pair in enumerate(zip(unknown.source, unknown.reference, strict=True)) if not any(pair)]
    buckets = {"all": range(len(unknown.source)), "no unknown word": known}
    return Bucketing("unknown words", buckets, Group.UNKNOWN_WORDS)


def collect_groups(labels: Sequence[str], places: Iterable[int | None]) -> dict[str, list[int]]:
    """The sentences that have a place, by the label of it."""
    members: list[list[int]] = [[] for _ in labels]
    for number, place in enumerate(places):
        if place is not None:
            members[place].append(number)
    return dict(zip(labels, members))
