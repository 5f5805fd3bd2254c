"""All that can be said of some systems from their translations, as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike

from ..metrics import split_words
from .bucket_scores import ScoredSystem
from .content import Content, content
from .differences import Difference, greatest_differences, sentence_scores
from .evaluation import MetricEvaluation, Settings, evaluate
from .evaluation_tables import (
    TitledTable,
    as_markdown,
    as_text,
    breakdown_tables,
    content_table,
    nbest_table,
    overall_table,
    vocabulary_table,
    word_accuracy_table,
)
from .nbest_lists import NBestLists
from .nbest_scores import NBestScores, nbest_scores
from .run_folder import RunFolder
from .test_set import System, TestSet
from .word_accuracy import WordAccuracy, word_accuracy

#: chrF of single sentences says where systems differ; BLEU of a single sentence is mostly zero or chance.
SENTENCE_METRIC = "chrf"


@dataclass(frozen=True)
class Study:
    """Systems on one test set, and what was counted of them.

    Attributes:
        test_set: what they translated.
        systems: the first is the baseline.
        metrics: scores, broken down.
        words: F-measure of words by training frequency, by system; empty without training text.
        contents: repetition and loss, by system. Both are those of the first seed, and ignore case.
        sentence_scores: chrF of each sentence, by system, of the first seed.
        nbest: what could be reached by choosing from n-best lists by chrF, of the systems that have them.
    """

    test_set: TestSet
    systems: Sequence[System]
    metrics: Sequence[MetricEvaluation]
    words: Mapping[str, Sequence[WordAccuracy]]
    contents: Mapping[str, Content]
    sentence_scores: Mapping[str, Sequence[float]]
    nbest: Mapping[str, NBestScores] = field(default_factory=dict)

    @property
    def baseline(self) -> str:
        """The name of the system that others are compared with."""
        return self.systems[0].name

    def differences(self, system: str, count: int = 5) -> tuple[list[Difference], list[Difference]]:
        """The sentences on which a system is most above and most below the baseline."""
        return greatest_differences(self.sentence_scores[system], self.sentence_scores[self.baseline], count)


def study(
    test_set: TestSet,
    systems: Sequence[System],
    *,
    settings: Settings | None = None,
    training_text: Sequence[str] | None = None,
) -> Study:
    """Counts everything.

    Args:
        test_set: what the systems translated.
        systems: the first is the baseline.
        settings: which metrics, how many resamples, which groups.
        training_text: raw target sentences of the training set, for words by frequency.

    Raises:
        ValueError: as `evaluate`.
    """
    settings = settings or Settings()
    metrics = evaluate(test_set, systems, settings)
    references = words_of(test_set.reference, test_set)
    translations = {system.name: words_of(first(system), test_set) for system in systems}
    accuracies: dict[str, Sequence[WordAccuracy]] = {}
    if training_text is not None:
        counts = Counter(word for sentence in words_of(training_text, test_set) for word in sentence)
        accuracies = {name: word_accuracy(words, references, counts) for name, words in translations.items()}
    return Study(
        test_set,
        systems,
        metrics,
        accuracies,
        {name: content(words, references) for name, words in translations.items()},
        {system.name: sentence_scores(ScoredSystem(system, test_set, SENTENCE_METRIC)) for system in systems},
        {system.name: choices(system.nbest, test_set, settings) for system in systems if system.nbest},
    )


def choices(lists: NBestLists, test_set: TestSet, settings: Settings) -> NBestScores:
    """What could be reached by choosing from lists, in the first metric."""
    return nbest_scores(
        lists,
        test_set,
        metric=settings.metrics[0],
        sentence_metric=SENTENCE_METRIC,
        tokenize=settings.tokenize,
    )


def first(system: System) -> Sequence[str]:
    """The translations of a system's first seed."""
    return next(iter(system.translations.values()))


def words_of(sentences: Sequence[str], test_set: TestSet) -> list[list[str]]:
    """Words of target text, in lower case: at the beginning of a sentence a word is no other one than elsewhere."""
    return split_words([sentence.lower() for sentence in sentences], test_set.target_language)


def read_runs(paths: Sequence[str | PathLike[str]]) -> tuple[TestSet, list[System], list[str]]:
    """Test set, systems and training text (target side) of run folders that share a test set.

    A system's name gets its run's in front where two runs have one of that name.

    Raises:
        FileError: if a folder is not that of a whole run.
        ValueError: if two runs have different test sets.
    """
    runs = [RunFolder(path) for path in paths]
    test_set = runs[0].test_set()
    for run in runs[1:]:
        other = run.test_set()
        if (other.source, other.reference, other.lowercase) != (
            test_set.source,
            test_set.reference,
            test_set.lowercase,
        ):
            raise ValueError(
                f"{run.path} and {runs[0].path} have different test sets or casing: compare like with like"
            )
    found = [(run, system) for run in runs for system in run.systems()]
    names = Counter(system.name for _, system in found)
    systems = [
        replace(system, name=f"{run.path.name}/{system.name}") if names[system.name] > 1 else system
        for run, system in found
    ]
    return test_set, systems, runs[0].training_text()


def tables(result: Study) -> list[TitledTable]:
    """The whole study as tables."""
    found = [overall_table(result.metrics, result.baseline)]
    for metric in result.metrics:
        found += breakdown_tables(metric, result.baseline)
    if len({system.vocabulary_sizes for system in result.systems if system.vocabulary_sizes}) > 1:
        found.append(vocabulary_table(result.metrics[0], result.systems))
    if result.words:
        found.append(word_accuracy_table(result.words))
    found.append(content_table(result.contents))
    if result.nbest:
        found.append(nbest_table(result.metrics[0], result.nbest))
    return found


def study_as_text(result: Study) -> str:
    """For a terminal."""
    return as_text(tables(result))


def study_as_markdown(result: Study) -> str:
    """For a page."""
    return as_markdown(tables(result))


def study_as_json(result: Study) -> str:
    """Everything, unrounded, translations left out."""
    content = {
        "test_set": {
            "sentences": len(result.test_set),
            "target_language": result.test_set.target_language,
            "lowercase": result.test_set.lowercase,
            "words": result.test_set.words,
        },
        "systems": [
            {"name": one.name, "seeds": list(one.translations), "vocabulary_sizes": one.vocabulary_sizes}
            for one in result.systems
        ],
        "metrics": [asdict(metric) for metric in result.metrics],
        "words": {name: [asdict(group) for group in groups] for name, groups in result.words.items()},
        "contents": {name: asdict(content) for name, content in result.contents.items()},
        "sentence_scores": dict(result.sentence_scores),
        "nbest": {name: asdict(scores) for name, scores in result.nbest.items()},
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
