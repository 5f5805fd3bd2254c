"""Pre-trained embeddings: skip-gram vectors of the training text, and maps between the spaces of two languages.

The files are read by ``--encoder-embed-path`` and ``--decoder-embed-path``.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes

from ..text_files import FileError, read_lines, write_aside


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


#: The symbols of fairseq for the end of a sentence, and for words outside the dictionary.
END, UNKNOWN = "</s>", "<unk>"


class TrainingText:
    """The sentences of one or more files, as lists of words, which can be gone through again and again.

    Skip-gram thus learns a vector for the end of a sentence, which a model reads and writes like a word, and one for
    the unknown word, from the places where unknown words occur. The text is tokenized and segmented as for
    fairseq-preprocess, one sentence a line; words that are not known become ``<unk>``.
    """

    def __init__(self, paths: Sequence[Path], known: frozenset[str]) -> None:
        self.paths = paths
        self.known = known

    def __iter__(self) -> Iterator[list[str]]:
        for words in sentences(self.paths):
            yield [word if word in self.known else UNKNOWN for word in words] + [END]


def sentences(paths: Sequence[Path]) -> Iterator[list[str]]:
    """Yields the words of each line that has any.

    Raises:
        FileError: a file is missing, or a line is not UTF-8.
    """
    for path in paths:
        for _, line in read_lines(path):
            words = line.split()
            if words:
                yield words


def frequent_words(paths: Sequence[Path], min_count: int) -> frozenset[str]:
    """The words that occur at least so often in all files together.

    Raises:
        ValueError: if there are none.
    """
    counts = Counter(word for words in sentences(paths) for word in words)
    known = frozenset(word for word, count in counts.items() if count >= min_count)
    if not known:
        raise ValueError(f"no word occurs {min_count} times or more in {', '.join(map(str, paths))}")
    return known


def train_skip_gram(
    sentences: Iterable[list[str]], *, size: int, window: int, negatives: int, epochs: int, seed: int, workers: int
) -> WordVectors:
    """A vector for every word of the sentences, the most frequent word first; the options are those of the tool.

    The sentences are gone through once for the words and once an epoch.

    Raises:
        ValueError: naming an argument that is below one.
        ModuleNotFoundError: if gensim is not installed.
    """
    counts = {"size": size, "window": window, "negatives": negatives, "epochs": epochs, "workers": workers}
    for name, value in counts.items():
        if value < 1:
            raise ValueError(f"--{name} must be at least 1, not {value}")
    try:
        from gensim.models import Word2Vec
    except ModuleNotFoundError as error:
        if error.name != "gensim":
            raise
        message = "word vectors need gensim, which has no release for Python 3.14: pip install gensim==4.4.0"
        raise ModuleNotFoundError(f"{message} in an environment of Python 3.11 to 3.13", name="gensim") from error

    model = Word2Vec(
        sentences,
        vector_size=size,
        window=window,
        sg=1,
        negative=negatives,
        min_count=1,
        epochs=epochs,
        seed=seed,
        workers=workers,
    )
    return WordVectors(model.wv.index_to_key, model.wv.vectors)


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
