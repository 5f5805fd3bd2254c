"""What systems are compared on: a test set, its words, and each system's translations of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .nbest_lists import NBestLists
from .unknown_words import UnknownWords


@dataclass(frozen=True)
class TestSet:
    """Sources and references, as people write them and as words.

    Attributes:
        source: raw sentences; empty if only references are at hand.
        reference: raw sentences, which translations are scored against.
        source_words: words of each source; lengths count them. Empty where `source` is.
        reference_words: words of each reference.
        target_language: chooses the tokenisation of scores.
        lowercase: ignore case in scores.
        words: what the words are, for captions: ``Moses tokens``, ``13a tokens`` …
    """

    __test__ = False  # not a class of tests, whatever pytest makes of the name

    source: Sequence[str]
    reference: Sequence[str]
    source_words: Sequence[Sequence[str]]
    reference_words: Sequence[Sequence[str]]
    target_language: str
    lowercase: bool
    words: str

    def __len__(self) -> int:
        """Number of sentences."""
        return len(self.reference)


@dataclass(frozen=True)
class System:
    """One system and its translations.

    Attributes:
        name: as printed.
        translations: by seed: detokenised sentences, parallel to the test set. A system that was trained once, or comes
            from elsewhere, has one entry.
        unknown: how many words of each sentence the system's dictionaries lack; None where they are not known.
        vocabulary_sizes: source and target dictionary, special symbols not counted; None where not known.
        nbest: of the first seed: what its translations were chosen from; None where that is not known.
    """

    name: str
    translations: Mapping[str, Sequence[str]]
    unknown: UnknownWords | None = None
    vocabulary_sizes: tuple[int, int] | None = None
    nbest: NBestLists | None = None
