"""Words that a model does not know: those its own dictionary lacks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..fairseq_dictionary import read_dictionary
from ..text_files import read_sentences, require_same_count


@dataclass(frozen=True)
class UnknownWords:
    """Number of unknown tokens of each sentence, parallel to the test set.

    Attributes:
        source: by the source dictionary.
        reference: by the target dictionary.
    """

    source: Sequence[int]
    reference: Sequence[int]


def count_unknown(sentences: Sequence[Sequence[str]], dictionary: Collection[str]) -> list[int]:
    """How many tokens of each sentence are not in the dictionary."""
    return [sum(token not in dictionary for token in tokens) for tokens in sentences]


def read_unknown_words(data: str, prepared: str, source_language: str, target_language: str) -> UnknownWords:
    """Counts the unknown words of a test set as a model was given it.

    Args:
        data: folder with ``dict.LANG.txt``.
        prepared: prefix of the segmented test set, ``PREFIX.LANG``.
        source_language: ending of the source side.
        target_language: ending of the target side.
    """
    counts, files = [], []
    for language in (source_language, target_language):
        file = f"{prepared}.{language}"
        tokens = [text.split() for text in read_sentences(file)]
        counts.append(count_unknown(tokens, read_dictionary(f"{data}/dict.{language}.txt")))
        files.append(file)
    require_same_count(files[1], counts[1], files[0], counts[0])
    return UnknownWords(*counts)
