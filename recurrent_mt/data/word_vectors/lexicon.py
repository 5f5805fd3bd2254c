"""Lists of words and their translations."""

from __future__ import annotations

from pathlib import Path

from .numbered_lines import numbered_lines
from .word_vectors import WordVectors


def read_lexicon(path: Path) -> list[tuple[str, str]]:
    """The pairs of a file with a word and its translation, apart by blanks or a tab, a line.

    Raises:
        ValueError: naming the file and the line, if it has another number of words; or if the file is empty.
    """
    pairs = []
    for number, line in numbered_lines(path):
        words = line.split()
        if len(words) != 2:
            raise ValueError(f"{path}:{number}: expected a word and its translation, found {len(words)} words")
        pairs.append((words[0], words[1]))
    if not pairs:
        raise ValueError(f"{path} is empty")
    return pairs


def covered(pairs: list[tuple[str, str]], source: WordVectors, target: WordVectors) -> list[tuple[str, str]]:
    """The pairs of which both words have a vector."""
    return [(word, other) for word, other in pairs if word in source.index and other in target.index]
