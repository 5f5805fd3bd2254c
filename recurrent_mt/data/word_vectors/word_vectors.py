"""Words with a vector each, in memory and in the text format that fairseq reads."""

from __future__ import annotations

import functools
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
        """The row of each word."""
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
    """Reads what :func:`write_vectors` writes.

    gensim's ``KeyedVectors.load_word2vec_format`` (4.4) is no substitute: it completes a line with too few numbers,
    drops a repeated word and lines beyond the announced count, takes ``nan``, and allocates what the first line says.

    Raises:
        FileError: naming the file and the line, if it is anything else.
    """
    lines = read_lines(path)
    count, size = _header(path, next(lines, (1, ""))[1])
    if count * size > path.stat().st_size:
        raise FileError(path, f"too short for {count} vectors of size {size}, which its first line says")
    words: dict[str, int] = {}
    matrix = np.empty((count, size), dtype=np.float32)
    for number, line in lines:
        word, *numbers = line.rstrip().split(" ")
        if len(numbers) != size:
            raise FileError(path, f"{len(numbers)} numbers after {word!r}; the first line says {size}", line=number)
        if word in words:
            raise FileError(path, f"{word!r} has a vector already, in line {words[word]}", line=number)
        if len(words) == count:
            raise FileError(path, f"more lines than the {count} announced", line=number)
        try:
            matrix[len(words)] = [float(text) for text in numbers]
        except ValueError as error:
            raise FileError(path, str(error), line=number) from None
        words[word] = number
    if len(words) != count:
        raise FileError(path, f"it has {len(words)} vectors and its first line says {count}: it is not complete")
    infinite = ~np.isfinite(matrix).all(axis=1)
    if infinite.any():
        word = list(words)[int(infinite.argmax())]
        raise FileError(path, f"{word!r} has a number that is not finite", line=words[word])
    return WordVectors(list(words), matrix)


def _header(path: Path, line: str) -> tuple[int, int]:
    try:
        count, size = map(int, line.split())
        if count < 0 or size < 1:
            raise ValueError
    except ValueError:
        message = f"expected the number of words and the size of a vector, found {line[:80]!r}"
        raise FileError(path, message, line=1) from None
    return count, size
