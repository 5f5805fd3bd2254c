"""Words with a vector each, in memory and in the text format that fairseq reads."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .numbered_lines import numbered_lines


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

    def nearest(self, directions: np.ndarray, count: int = 1) -> list[list[str]]:
        """The words whose vectors have the highest cosine with each of the directions (N, E), nearest first."""
        cosines = directions @ self.directions.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
        return [[self.words[row] for row in rows] for rows in order]


def write_vectors(path: Path, vectors: WordVectors) -> None:
    """Writes ``count size``, then ``word x1 x2 …`` a line; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(f"{len(vectors.words)} {vectors.size}\n")
            for word, vector in zip(vectors.words, vectors.matrix):
                file.write(f"{word} {' '.join(f'{number:.6g}' for number in vector)}\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_vectors(path: Path) -> WordVectors:
    """Reads what :func:`write_vectors` writes.

    Raises:
        ValueError: naming the file and the line, if it is anything else.
    """
    lines = numbered_lines(path)
    count, size = _header(path, next(lines, (1, ""))[1])
    if count * size > path.stat().st_size:
        raise ValueError(f"{path} is too short for {count} vectors of size {size}, which its first line says")
    words: dict[str, int] = {}
    matrix = np.empty((count, size), dtype=np.float32)
    for number, line in lines:
        word, *numbers = line.rstrip().split(" ")
        if len(numbers) != size:
            raise ValueError(f"{path}:{number}: {len(numbers)} numbers after {word!r}; the first line says {size}")
        if word in words:
            raise ValueError(f"{path}:{number}: {word!r} has a vector already, in line {words[word]}")
        if len(words) == count:
            raise ValueError(f"{path}:{number}: more lines than the {count} announced")
        try:
            matrix[len(words)] = [float(text) for text in numbers]
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        words[word] = number
    if len(words) != count:
        raise ValueError(f"{path} has {len(words)} vectors and its first line says {count}: it is not complete")
    infinite = ~np.isfinite(matrix).all(axis=1)
    if infinite.any():
        word = list(words)[int(infinite.argmax())]
        raise ValueError(f"{path}:{words[word]}: {word!r} has a number that is not finite")
    return WordVectors(list(words), matrix)


def _header(path: Path, line: str) -> tuple[int, int]:
    try:
        count, size = map(int, line.split())
        if count < 0 or size < 1:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"{path}:1: expected the number of words and the size of a vector, found {line[:80]!r}"
        ) from None
    return count, size
