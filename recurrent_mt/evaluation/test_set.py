"""What systems are compared on: a test set, each system's translations of it, and groups of its sentences."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike

from ..metrics import SentenceStatistics, statistics
from ..subwords import is_subword
from ..text_files import FileError, read_dictionary, read_sentences, require_same_count
from .tables import Group

SIDES = ("source", "reference", "both")
UNKNOWN_SIDES = ("source", "reference", "either")

Place = str | PathLike[str]

#: Models of fairseq's own, with which others are compared.
STOCK_MODELS = ("lstm", "fconv", "transformer")


@dataclass(frozen=True)
class TestSet:
    """Sources and references, as people write them and as words."""

    __test__ = False  # not a class of tests, whatever pytest makes of the name

    reference: Sequence[str]  # raw sentences, which translations are scored against
    target_language: str  # chooses the tokenization of scores
    lowercase: bool  # ignore case in scores
    source: Sequence[str] = ()  # raw sentences; empty if only references are at hand
    source_words: Sequence[Sequence[str]] = ()  # words of each source; lengths count them. Empty where `source` is.
    reference_words: Sequence[Sequence[str]] = ()  # words of each reference; empty if only scores are asked for
    words: str = ""  # what the words are, for captions: ``Moses tokens``, ``13a tokens`` …

    def __len__(self) -> int:
        return len(self.reference)

    def count(
        self, metric: str, translations: Sequence[str], *, tokenize: str | None = None, jobs: int = 1
    ) -> SentenceStatistics:
        """Counts what a metric needs of each translation; arguments and errors as of `metrics.statistics`."""
        return statistics(
            metric,
            translations,
            self.reference,
            target_language=self.target_language,
            tokenize=tokenize,
            lowercase=self.lowercase,
            jobs=jobs,
        )


@dataclass(frozen=True)
class UnknownWords:
    """Number of tokens of each sentence, on either side, that a model's dictionaries lack; parallel to the test set."""

    source: Sequence[int]
    reference: Sequence[int]


@dataclass(frozen=True)
class ListedHypothesis:
    """One entry of an n-best list: the score of the search, as fairseq-generate logs it, and the detokenized text."""

    score: float
    text: str


#: A list for each sentence of the test set, each with its best hypothesis first and at least that one.
NBestLists = Sequence[Sequence[ListedHypothesis]]


@dataclass(frozen=True)
class System:
    """One system and its translations."""

    name: str  # as printed
    #: by seed: detokenized sentences, parallel to the test set. A system that was trained once, or comes from
    #: elsewhere, has one entry.
    translations: Mapping[str, Sequence[str]]
    #: how many words of each sentence the system's dictionaries lack; None where they are not known
    unknown: UnknownWords | None = None
    #: source and target dictionary, special symbols not counted; None where not known
    vocabulary_sizes: tuple[int, int] | None = None
    #: of the first seed: what its translations were chosen from; None where that is not known
    nbest: NBestLists | None = None
    name_in_run: str = ""  # where `name` begins with its run's, because two runs have a system of that name

    @property
    def first_seed(self) -> Sequence[str]:
        return next(iter(self.translations.values()))


def count_unknown(sentences: Sequence[Sequence[str]], dictionary: Collection[str]) -> list[int]:
    """How many tokens of each sentence are not in the dictionary."""
    return [sum(token not in dictionary for token in tokens) for tokens in sentences]


def read_unknown_words(texts: Sequence[Place], dictionaries: Sequence[Place]) -> UnknownWords:
    """Counts the tokens of a test set that models do not know.

    Args:
        texts: both sides as models read them.
        dictionaries: fairseq's, of the source and of the target.

    Raises:
        FileError: if a file is missing or damaged, if the sides differ in length, or if a text is whole words and its
            dictionary is of subwords.
    """
    counts = []
    for text, file in zip(texts, dictionaries, strict=True):
        dictionary, tokens = read_dictionary(file), [line.split() for line in read_sentences(text)]
        # A tenth: words of a web page may look like subwords.
        of_subwords = 10 * sum(map(is_subword, dictionary)) > len(dictionary)
        unknown = count_unknown(tokens, dictionary)
        # A few short sentences may well have no word that was split: then all of their words are in the dictionary.
        if of_subwords and any(unknown) and not any(is_subword(token) for line in tokens for token in line):
            raise FileError(text, f"it is not split into subwords, which {file} has: give the text that models read")
        counts.append(unknown)
    require_same_count(texts[1], counts[1], texts[0], counts[0])
    return UnknownWords(*counts)


def choose_baseline(names: Sequence[str], names_in_runs: Sequence[str] = ()) -> str:
    """The system that others are compared with unless one is asked for: the first of fairseq's own, else the first.

    Args:
        names: of the systems.
        names_in_runs: the same without the names of runs; none where the former have none.
    """
    pairs = zip(names, names_in_runs or names, strict=True)
    return next((name for name, own_name in pairs if own_name in STOCK_MODELS), names[0])


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
    ``both``, a sentence belongs to a point if both its sides do. Points with fewer than ``fewest`` sentences are left
    out.

    Raises:
        ValueError: for another side, or a window or a number of sentences below 1.
    """
    if window < 1 or fewest < 1:
        raise ValueError(f"window is {window} and fewest is {fewest}: both must be 1 or more")
    sentences = count_words(test_set, side)
    longest = max((max(lengths) for lengths in sentences), default=0)
    points = {}
    for middle in range(1, longest + 1):
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
        ValueError: for another side, or limits that do not increase.
    """
    if not limits or limits[0] < 0 or any(low >= high for low, high in itertools.pairwise(limits)):
        raise ValueError(f"limits of length must increase: {list(limits)}")
    sentences = count_words(test_set, side)
    if limits[0] > 0 and not all(map(any, sentences)):
        limits = [0, *limits]
    labels = [
        *(f"{low + 1}–{high}" if low + 1 < high else f"{high}" for low, high in zip([0, *limits], limits)),
        f"over {limits[-1]}",
    ]
    groups = [{sum(length > limit for limit in limits) for length in lengths} for lengths in sentences]
    places = [group.pop() if len(group) == 1 else None for group in groups]
    return Bucketing(f"{side} length", collect_groups(labels, places), Group.LENGTH, side)


def count_words(test_set: TestSet, side: str) -> list[tuple[int, ...]]:
    """Words of each sentence on one side or on both, the end of sentence not counted.

    Raises:
        ValueError: for another side, or if the test set has no sources and they are asked for.
    """
    check_choice(side, SIDES)
    if side != "reference" and len(test_set.source_words) != len(test_set):
        raise ValueError("lengths of the source are asked for, but no source text was given")
    words = {"source": [test_set.source_words], "reference": [test_set.reference_words]}
    words["both"] = words["source"] + words["reference"]
    return [tuple(map(len, sentences)) for sentences in zip(*words[side], strict=True)]


def by_unknown_words(unknown: UnknownWords, side: str, most: int = 5) -> Bucketing:
    """Groups by the number of unknown words: 0, 1, … and `most` or more.

    Args:
        unknown: the counts of the model's own dictionaries.
        side: ``source``, ``reference`` or ``either``: the greater of the two counts.
        most: where the last group begins.

    Raises:
        ValueError: for another side, or `most` below 1.
    """
    check_choice(side, UNKNOWN_SIDES)
    if most < 1:
        raise ValueError(f"the last group of unknown words must begin at 1 or later, not at {most}")
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


def check_choice(side: str, choices: Sequence[str]) -> None:
    """Raises ValueError naming the choices."""
    if side not in choices:
        raise ValueError(f"side is {side!r}: choose one of {', '.join(choices)}")
