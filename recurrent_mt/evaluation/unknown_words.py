"""Words that a model does not know: those its own dictionary lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from .log_lines import LogError, read_lines
from .sentences import read_sentences, require_same_count

#: What may stand after a count in a dictionary: a later entry of the same word replaces the first.
OVERWRITE = "#fairseq:overwrite"


@dataclass(frozen=True)
class UnknownWords:
    """Number of unknown tokens of each sentence, parallel to the test set.

    Attributes:
        source: by the source dictionary.
        reference: by the target dictionary.
    """

    source: Sequence[int]
    reference: Sequence[int]


def read_dictionary(path: str | PathLike[str]) -> set[str]:
    """The symbols of a fairseq dictionary (``dict.LANG.txt``: ``SYMBOL COUNT`` a line).

    Padding symbols (``madeupword0000``), which fairseq-preprocess adds to round the size up, do not count.

    Raises:
        LogError: naming the first line that is not a symbol and a count.
    """
    symbols = set()
    for number, text in read_lines(path):
        symbol, space, count = text.removesuffix(f" {OVERWRITE}").rpartition(" ")
        if not (space and symbol and count.isdigit()):
            raise LogError(
                path, "expected a symbol, a space and a count: is this a dictionary of fairseq?", line=number
            )
        if not symbol.startswith("madeupword"):
            symbols.add(symbol)
    return symbols


def count_unknown(sentences: Sequence[Sequence[str]], dictionary: set[str]) -> list[int]:
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
