"""Systems on one test set: scores of the whole and of groups of its sentences, and all else that translations show.

Scores come with intervals and paired tests; groups are made by length, along length, and by unknown words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pandas

from ..metrics import (
    SEED,
    SentenceStatistics,
    bootstrap_p_value,
    check_resamples,
    estimate_interval,
    randomization_p_value,
    resample_scores,
    sign_systems,
    stream_words,
)
from .groups import (
    SIDES,
    UNKNOWN_SIDES,
    Bucketing,
    by_length,
    by_unknown_words,
    by_window,
    known_sentences,
    within_length,
)
from .nbest import SENTENCE_METRIC, nbest_table, score_lists
from .tables import (
    ALL,
    FEWEST,
    STARRED_TEST,
    Cell,
    Group,
    Record,
    Table,
    format_number,
    group_tables,
    make_frame,
    pivot_cells,
    reading_notes,
    score_table,
    select,
    write_results,
)
from .translated_files import Place, System, TestSet, UnknownWords, list_places, read_system, read_test_set
from .words import BY_FREQUENCY, content_table, score_content, score_words, word_table

RESAMPLES = 1000
#: A curve has many points, each with an interval of its own: fewer resamples than for a table.
CURVE_RESAMPLES = 100
#: Cho et al. (2014b) show sentences of 10 to 20 words by themselves.
LIKE_LENGTHS = (10, 20)
#: Sections that have more than tables, on a page.
LENGTH, UNKNOWN_WORDS, FREQUENCY, NBEST = "Sentence length", "Unknown words", "Words by frequency", "N-best lists"


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
    #: a key of `PAIRED_TESTS`: the test of the difference from the baseline; where there are stars, `STARRED_TEST`
    paired: str | None = STARRED_TEST
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
    check_test(settings)
    everything = Bucketing(ALL, {ALL: range(len(test_set))})
    records: list[Record] = []
    signatures, details = {}, {}
    for metric in settings.metrics:
        counted = [CountedSystem(one, test_set, metric, settings) for one in systems]
        name = counted[0].metric
        signatures[name] = sign_counted(counted, test_set, settings)
        details[name] = {one.name: one.details for one in counted}
        records += score_groups(counted, [everything] * len(systems), settings.resamples)
        if metric in settings.broken_down:
            for groups in all_groups(test_set, systems, settings):
                records += score_groups(counted, groups, settings.resamples)
            for side in countable_sides(test_set):
                curve = by_window(test_set, side, window=settings.window, fewest=settings.fewest)
                resamples = min(settings.resamples, CURVE_RESAMPLES)
                records += score_groups(counted, [curve] * len(systems), resamples, test=False)
    return Scores(make_frame(records), signatures, details)


def check_test(settings: Settings) -> None:
    """Raises ValueError if the test that is asked for cannot be run."""
    if settings.paired and settings.seed < 1:
        raise ValueError(f"seed is {settings.seed}: a paired test needs at least 1, because sacrebleu's 0 means none")


def require_starred_test(settings: Settings) -> None:
    """Raises ValueError if the test that is asked for is not the one that stars stand for."""
    if settings.paired not in (None, STARRED_TEST):
        raise ValueError(
            f"paired is {settings.paired}: stars stand for {STARRED_TEST}; compare translations in files instead"
        )


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
        if self.settings.paired == "randomization":
            pair = self.select(sentences), baseline.select(sentences)
            return randomization_p_value(*pair, trials=resamples, seed=self.settings.seed)
        mean, expected = (float(np.mean(list(one.score_seeds(sentences).values()))) for one in (self, baseline))
        drawn = (one.resample_means(sentences, resamples) for one in (self, baseline))
        return bootstrap_p_value(mean - expected, *drawn)


def sign_counted(systems: Sequence[CountedSystem], test_set: TestSet, settings: Settings) -> str:
    """What decides the numbers of these systems under their metric; of one sentence, nothing is resampled."""
    counts = [rows for one in systems for rows in one.statistics.values()]
    if not settings.resamples or len(test_set) == 1:
        return sign_systems(counts, **test_set.origin)
    trials = settings.resamples if settings.paired == "randomization" and len(systems) > 1 else None
    return sign_systems(counts, **test_set.origin, bs=settings.resamples, ar=trials, seed=settings.seed)


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


@dataclass(frozen=True)
class SentenceDifference:
    """One sentence, from 0, and what each of two systems scores on it."""

    sentence: int
    score: float
    baseline_score: float

    @property
    def difference(self) -> float:
        """How much better the system is than the baseline."""
        return self.score - self.baseline_score


@dataclass(frozen=True)
class Analysis:
    """Systems on one test set, and what was counted of them."""

    test_set: TestSet  # what they translated
    systems: Sequence[System]  # the first is the baseline
    settings: Settings  # what was asked for
    #: every number of the whole test set and of groups, see `Record`. Of n-best lists they are those of the first seed;
    #: words and content ignore case.
    records: pandas.DataFrame
    signatures: Mapping[str, str]  # printed name of each metric to all that decides its numbers
    sentence_scores: Mapping[str, Sequence[float]]  # chrF of each sentence, by system, of the first seed
    #: chrF of each hypothesis of each n-best list, by system, of those that have lists
    hypothesis_scores: Mapping[str, Sequence[Sequence[float]]]

    @property
    def baseline(self) -> str:
        """The name of the system that others are compared with."""
        return self.systems[0].name

    @property
    def names(self) -> list[str]:
        return [system.name for system in self.systems]

    def find_differences(
        self, system: str, count: int = 5
    ) -> tuple[list[SentenceDifference], list[SentenceDifference]]:
        """The sentences on which a system is most above and most below the baseline, the greatest difference first.

        Sentences on which both are equal are in neither list, however few others there are.
        """
        pairs = zip(self.sentence_scores[system], self.sentence_scores[self.baseline], strict=True)
        found = [SentenceDifference(number, *pair) for number, pair in enumerate(pairs)]
        above = sorted((one for one in found if one.difference > 0), key=lambda one: -one.difference)
        below = sorted((one for one in found if one.difference < 0), key=lambda one: one.difference)
        return above[:count], below[:count]

    def tables(self) -> dict[str, list[Table]]:
        """All tables but those of the curves, by the title of the section that they belong to."""
        records, metrics = self.records, list(self.signatures)
        sections = {
            "Scores": [score_table(records, self.signatures, self.names, self.baseline)],
            LENGTH: group_tables(records, metrics, self.baseline, Group.LENGTH),
            # First all sentences against those without unknown words, as in the papers' tables; then the finer groups.
            UNKNOWN_WORDS: group_tables(records, metrics, self.baseline, Group.UNKNOWN_WORDS),
        }
        if len({system.vocabulary_sizes for system in self.systems if system.vocabulary_sizes}) > 1:
            sections["Vocabulary size"] = [vocabulary_table(records, metrics[0], self.systems, self.baseline)]
        if (records["by"] == BY_FREQUENCY).any():
            sections[FREQUENCY] = [word_table(records)]
        sections["Repetitions and omissions"] = [content_table(records)]
        if self.hypothesis_scores:
            several = any(len(system.translations) > 1 for system in self.systems if system.nbest)
            table = nbest_table(records)
            notes = ["Lists are those of the first seed."] if several else []
            sections[NBEST] = [replace(table, notes=[*table.notes, *notes])]
        return {title: tables for title, tables in sections.items() if tables}

    def list_tables(self) -> list[Table]:
        """The same tables without their titles."""
        return list(chain.from_iterable(self.tables().values()))

    def write(self, prefix: str | Path) -> None:
        """Writes ``PREFIX.txt``, ``PREFIX.md`` and ``PREFIX.json``."""
        systems = [
            {"name": one.name, "seeds": list(one.translations), "vocabulary_sizes": one.vocabulary_sizes}
            for one in self.systems
        ]
        write_results(
            prefix,
            self.list_tables(),
            self.records,
            test_set={
                "sentences": len(self.test_set),
                "target_language": self.test_set.target_language,
                "lowercase": self.test_set.lowercase,
                "words": self.test_set.words,
            },
            systems=systems,
            signatures=dict(self.signatures),
            sentence_scores=dict(self.sentence_scores),
            hypothesis_scores=dict(self.hypothesis_scores),
        )


def analyze(
    test_set: TestSet,
    systems: Sequence[System],
    *,
    settings: Settings | None = None,
    training_text: Iterable[str] | None = None,
) -> Analysis:
    """Counts everything; the first system is the baseline.

    ``training_text`` are raw target sentences of the training set, for words by frequency. They are taken once, one at
    a time, and first, so that a file that cannot be read is known before anything is scored.

    Raises:
        ValueError: as `score_systems`, and what reading the training text raises.
    """
    settings = settings or Settings()
    require_starred_test(settings)
    training_counts = None if training_text is None else count_words(training_text, test_set)
    scores = score_systems(test_set, systems, settings)
    references = list(split_lowercase(test_set.reference, test_set))
    records: list[Record] = []
    for system in systems:
        words = {seed: list(split_lowercase(texts, test_set)) for seed, texts in system.translations.items()}
        if training_counts is not None:
            counted = {seed: score_words(system.name, one, references, training_counts) for seed, one in words.items()}
            records += average_seeds(counted)
        records += average_seeds({seed: score_content(system.name, one, references) for seed, one in words.items()})
    hypothesis_scores = {}
    for system in systems:
        if system.nbest:
            reached, hypothesis_scores[system.name] = score_lists(system.name, system.nbest, test_set)
            records += reached
    return Analysis(
        test_set,
        systems,
        settings,
        pandas.concat([scores.records, make_frame(records)], ignore_index=True),
        scores.signatures,
        {one.name: test_set.count(SENTENCE_METRIC, one.first_seed).score_sentences() for one in systems},
        hypothesis_scores,
    )


def analyze_files(
    reference: Place | Sequence[Place],
    systems: Mapping[str, Place | Sequence[Place]],
    *,
    source: Place | None = None,
    languages: tuple[str, str] = ("", ""),
    lowercase: bool = False,
    settings: Settings | None = None,
) -> Analysis:
    """What ``recurrent-mt analyze`` counts; ``records`` of what it returns is a data frame of all numbers.

    Args:
        reference: raw references, in one file or several; words are counted in the first.
        systems: by name, a file of detokenized translations or a log (``*.log``); several files count as seeds. The
            first system is the baseline.
        source: raw sources, for scores by their length.
        languages: codes of source and target, which choose how words are counted and scored.
        lowercase: whether to ignore case.
        settings: what to count.

    Raises:
        FileError: if a file cannot be read, or has not as many lines as the references.
        ValueError: if there is no system, or one without files, or a setting makes no sense.
    """
    references = list_places(reference)
    test_set = read_test_set(references, source, languages, lowercase=lowercase)
    read = [read_system(name, list_places(files), references[0], test_set) for name, files in systems.items()]
    return analyze(test_set, read, settings=settings)


def average_seeds(by_seed: Mapping[str, Iterable[Record]]) -> Iterator[Record]:
    """The records of each seed of a system, which has the same ones for all; then their means, with their spread.

    A mean of fewer seeds would pass for one of all: it is unknown if one seed's value is.
    """
    listed = {seed: list(records) for seed, records in by_seed.items()}
    for seed, records in listed.items():
        yield from (replace(one, seed=seed) for one in records)
    for same in zip(*listed.values(), strict=True):
        values = [one.value for one in same if one.value is not None]
        total = replace(same[0], value=None, n=round(np.mean([one.n for one in same])))
        if len(values) == len(same):
            total = replace(total, value=float(np.mean(values)), sd=find_deviation(values))
        yield total


def find_deviation(values: Sequence[float]) -> float | None:
    """The standard deviation among seeds; None of a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def count_words(sentences: Iterable[str], test_set: TestSet) -> Counter[str]:
    """How often each word of target text occurs; memory grows with the different words alone."""
    return Counter(chain.from_iterable(split_lowercase(sentences, test_set)))


def split_lowercase(sentences: Iterable[str], test_set: TestSet) -> Iterator[list[str]]:
    """Words of target text, in lower case: a word at the beginning of a sentence is the same word elsewhere."""
    return stream_words(sentences, test_set.target_language, lower=True)


def vocabulary_table(records: pandas.DataFrame, metric: str, systems: Sequence[System], baseline: str) -> Table:
    """Systems in the order of the words they know."""
    ordered = sorted(systems, key=lambda system: system.vocabulary_sizes or (0, 0))
    names = [system.name for system in ordered]
    scores = pivot_cells(select(records, metric=metric, by=ALL), "system", "metric", names=names)[metric]
    rows = [
        [*(Cell(format_number(size, ",")) for size in system.vocabulary_sizes or (None, None)), scores[system.name]]
        for system in ordered
    ]
    header = ["System", "source words", "target words", metric]
    notes = list(reading_notes(records, baseline, metric=metric, by=ALL))
    return Table(f"{metric} by vocabulary size", header, names, rows, notes)
