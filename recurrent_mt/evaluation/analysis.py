"""Systems on one test set: their scores, and all else that translations show, as records and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas

from ..metrics import stream_words
from .scores import CountedSystem, Settings, find_deviation, score_systems
from .tables import (
    Group,
    Record,
    Table,
    group_tables,
    make_frame,
    score_table,
    write_results,
)
from .translated_files import Place, System, TestSet, list_places, read_system, read_test_set
from .words import BY_FREQUENCY, content_table, score_content, score_words, word_table

#: Sections that have more than tables, on a page.
LENGTH, UNKNOWN_WORDS, FREQUENCY = "Sentence length", "Unknown words", "Words by frequency"
#: chrF of single sentences says where systems differ; BLEU of a single sentence is mostly zero or chance.
SENTENCE_METRIC = "chrf"


@dataclass(frozen=True)
class Analysis:
    """Systems on one test set, and what was counted of them."""

    test_set: TestSet  # what they translated
    systems: Sequence[System]  # the first is the baseline
    settings: Settings  # what was asked for
    #: every number of the whole test set and of groups, see `Record`; words and content ignore case
    records: pandas.DataFrame
    signatures: Mapping[str, str]  # printed name of each metric to all that decides its numbers
    sentence_scores: Mapping[str, Sequence[float]]  # chrF of each sentence, by system, of the first seed
    counted: Mapping[str, Sequence[CountedSystem]]  # see `Scores`

    @property
    def baseline(self) -> str:
        """The name of the system that others are compared with."""
        return self.systems[0].name

    @property
    def names(self) -> list[str]:
        return [system.name for system in self.systems]

    def find_differences(
        self, system: str, count: int = 5, among: Iterable[int] | None = None
    ) -> tuple[pandas.Series, pandas.Series]:
        """How far a system is above the baseline, and how far below it, on the sentences where it is furthest.

        Sentences are numbered from 0, and looked for among all, or those with these numbers. Where both systems are
        equal, a sentence is in neither, however few others there are.
        """
        scores, base = (pandas.Series(self.sentence_scores[name]) for name in (system, self.baseline))
        differences = scores - base if among is None else (scores - base).loc[list(among)]
        return differences[differences > 0].nlargest(count), differences[differences < 0].nsmallest(count)

    def tables(self) -> dict[str, list[Table]]:
        """All tables but those of the curves, by the title of the section that they belong to."""
        records, metrics = self.records, list(self.signatures)
        sections = {
            "Scores": [score_table(records, self.signatures, self.names, self.baseline)],
            LENGTH: group_tables(records, metrics, self.baseline, Group.LENGTH),
            # First all sentences against those without unknown words, as in the papers' tables; then the finer groups.
            UNKNOWN_WORDS: group_tables(records, metrics, self.baseline, Group.UNKNOWN_WORDS),
        }
        if (records["by"] == BY_FREQUENCY).any():
            sections[FREQUENCY] = [word_table(records)]
        sections["Repetitions and omissions"] = [content_table(records)]
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
    training_counts = None
    if training_text is not None:
        training_counts = Counter(chain.from_iterable(split_lowercase(training_text, test_set)))
    scores = score_systems(test_set, systems, settings)
    references = list(split_lowercase(test_set.reference, test_set))
    records: list[Record] = []
    for system in systems:
        words = {seed: list(split_lowercase(texts, test_set)) for seed, texts in system.translations.items()}
        if training_counts is not None:
            counted = {seed: score_words(system.name, one, references, training_counts) for seed, one in words.items()}
            records += average_seeds(counted)
        records += average_seeds({seed: score_content(system.name, one, references) for seed, one in words.items()})
    return Analysis(
        test_set,
        systems,
        settings,
        pandas.concat([scores.records, make_frame(records)], ignore_index=True),
        scores.signatures,
        {one.name: test_set.count(SENTENCE_METRIC, one.first_seed).score_sentences() for one in systems},
        scores.counted,
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


def split_lowercase(sentences: Iterable[str], test_set: TestSet) -> Iterator[list[str]]:
    """Words of target text, in lower case: a word at the beginning of a sentence is the same word elsewhere."""
    return stream_words(sentences, test_set.target_language, lower=True)
