"""Skip-gram vectors with negative sampling (Mikolov et al. 2013), made by gensim, of text as fairseq sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...text_files import read_lines
from .word_vectors import WordVectors

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
    from gensim.models import Word2Vec

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
