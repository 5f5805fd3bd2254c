"""Words with a vector each, in memory and in the text format that fairseq reads."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...text_files import FileError, read_lines, write_aside


class WordVectors:
    """A matrix with one row for each word.

    Args:
        words: different from each other.
        matrix: (V, E), of 32-bit floats.
    """

    def __init__(self, words: Sequence[str], matrix: np.ndarray) -> None:
        self.words = tuple(words)
        self.matrix = matrix

    @property
    def size(self) -> int:
        """The length of a vector, E."""
        return self.matrix.shape[1]

    @functools.cached_property
    def index(self) -> dict[str, int]:
        """The row of each word in the matrix."""
        return {word: row for row, word in enumerate(self.words)}

    @functools.cached_property
    def directions(self) -> np.ndarray:
        """The vectors, scaled to length one (V, E); a vector of zeros stays one."""
        lengths = np.linalg.norm(self.matrix, axis=1, keepdims=True)
        return self.matrix / np.where(lengths > 0, lengths, 1)

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """The directions of some words (len(words), E)."""
        return self.directions[[self.index[word] for word in words]]

    def nearest(self, directions: np.ndarray) -> list[str]:
        """The word whose vector has the highest cosine with each of the directions (N, E)."""
        return [self.words[row] for row in np.argmax(directions @ self.directions.T, axis=1)]


def write_vectors(path: Path, vectors: WordVectors) -> None:
    """Writes ``count size``, then ``word x1 x2 …`` a line; the file appears whole or not at all."""
    with write_aside(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(vectors.words)} {vectors.size}\n")
        for word, vector in zip(vectors.words, vectors.matrix):
            file.write(f"{word} {' '.join(f'{number:.6g}' for number in vector)}\n")


def read_vectors(path: Path) -> WordVectors:
    """Reads what :func:`write_vectors` writes, and the same without the first line, as GloVe's files are.

    A first line of two whole numbers says how many vectors follow, and of how many numbers. gensim's
    ``KeyedVectors.load_word2vec_format`` (4.4) is no substitute: it completes a line with too few numbers, drops a
    repeated word and lines beyond the announced count, takes ``nan``, and allocates what the first line says.

    Raises:
        FileError: naming the file and the line, if it is anything else.
    """
    words: dict[str, int] = {}
    rows: list[np.ndarray] = []
    announced: int | None = None
    size: int | None = None
    for number, line in read_lines(path):
        if number == 1 and re.fullmatch(r"\d+ \d+\s*", line):
            announced, size = map(int, line.split())
            continue
        word, *numbers = line.rstrip().split(" ")
        if word in words:
            raise FileError(path, f"{word!r} has a vector already, in line {words[word]}", line=number)
        try:
            rows.append(_vector(word, numbers, size))
        except ValueError as error:
            raise FileError(path, str(error), line=number) from None
        words[word] = number
        size = len(rows[-1])
    if announced is not None and len(rows) != announced:
        raise FileError(path, f"it has {len(rows)} vectors and its first line says {announced}: it is not complete")
    if not rows:
        raise FileError(path, "there are no vectors in it")
    return WordVectors(list(words), np.stack(rows))


def _vector(word: str, numbers: Sequence[str], size: int | None) -> np.ndarray:
    """The numbers, `size` of them if that is known; anything else is a ValueError."""
    if len(numbers) != (size or max(len(numbers), 1)):
        raise ValueError(f"{len(numbers)} numbers after {word!r}; there must be {size or 'some'}")
    with np.errstate(over="ignore"):
        vector = np.array([float(text) for text in numbers], dtype=np.float32)
    if not np.isfinite(vector).all():
        raise ValueError(f"{word!r} has a number that is not finite")
    return vector
