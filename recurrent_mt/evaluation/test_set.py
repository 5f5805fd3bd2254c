"""What systems are compared on: a test set, its words, and each system's translations of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from ..fairseq_dictionary import read_dictionary
from ..metrics import SentenceStatistics, statistics
from ..text_files import FileError, read_sentences, require_same_count
from .subwords import is_subword

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
        """Number of sentences."""
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
    """One entry of an n-best list: the search's score, as of `generate_log.Hypothesis`, and the detokenized text."""

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
        """The translations of the first seed."""
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
        if of_subwords and not any(is_subword(token) for line in tokens for token in line):
            raise FileError(text, f"it is not split into subwords, which {file} has: give the text that models read")
        counts.append(count_unknown(tokens, dictionary))
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
