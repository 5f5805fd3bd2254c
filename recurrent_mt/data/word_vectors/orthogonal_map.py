"""An orthogonal map from one language's vectors into the space of another's, fitted on a seed lexicon."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes

from ...text_files import FileError, read_lines
from .word_vectors import WordVectors


def read_lexicon(path: Path) -> list[tuple[str, str]]:
    """The pairs of a file with a word and its translation, apart by blanks or a tab, a line.

    Raises:
        FileError: if a line has another number of words, or the file is empty.
    """
    pairs = []
    for number, line in read_lines(path):
        words = line.split()
        if len(words) != 2:
            raise FileError(path, f"expected a word and its translation, found {len(words)} words", line=number)
        pairs.append((words[0], words[1]))
    if not pairs:
        raise FileError(path, "the file is empty")
    return pairs


def covered_pairs(pairs: list[tuple[str, str]], source: WordVectors, target: WordVectors) -> list[tuple[str, str]]:
    """The pairs of which both words have a vector."""
    return [(word, other) for word, other in pairs if word in source.index and other in target.index]


def fit_map(pairs: list[tuple[str, str]], source: WordVectors, target: WordVectors) -> np.ndarray:
    """The orthogonal matrix W (E, E) that maximizes the sum of cosines between x W and y over the pairs' vectors x, y.

    Vectors count with length one (Xing et al. 2015); the solution is that of the Procrustes problem (Smith et al.
    2017). An orthogonal map leaves the lengths and the angles within a language as they are.

    Raises:
        ValueError: if the vectors are of different sizes or there is no pair.
    """
    if source.size != target.size:
        raise ValueError(f"vectors of {source.size} numbers cannot be mapped onto vectors of {target.size}")
    if not pairs:
        raise ValueError("no pair of the lexicon has a vector on both sides")
    words, others = zip(*pairs)
    rotation, _ = orthogonal_procrustes(source.rows(words), target.rows(others))
    return rotation


def apply_map(source: WordVectors, rotation: np.ndarray) -> WordVectors:
    """All vectors of `source` in the other space."""
    return WordVectors(source.words, source.matrix @ rotation.astype(source.matrix.dtype))


def precision_at_one(pairs: list[tuple[str, str]], source: WordVectors, target: WordVectors) -> float:
    """The share of the pairs' words with a translation of theirs as their nearest neighbor in `target`, by cosine.

    A word with several translations is right if one of them is nearest. See :func:`apply_map` for `source`.

    Raises:
        ValueError: if there is no pair.
    """
    translations = defaultdict(set)
    for word, other in pairs:
        translations[word].add(other)
    if not translations:
        raise ValueError("no pair of the lexicon has a vector on both sides")
    nearest = target.nearest(source.rows(list(translations)))
    right = sum(found in expected for found, expected in zip(nearest, translations.values()))
    return right / len(translations)
