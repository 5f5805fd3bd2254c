"""Skip-gram vectors with negative sampling (Mikolov et al. 2013), made by gensim."""

from __future__ import annotations

from collections.abc import Iterable

from .word_vectors import WordVectors


def skip_gram(
    sentences: Iterable[list[str]],
    *,
    size: int,
    window: int,
    negatives: int,
    epochs: int,
    seed: int,
    workers: int,
) -> WordVectors:
    """A vector for every word of the sentences, the most frequent word first.

    Args:
        sentences: lists of words, gone through once for the words and once an epoch.
        size: of a vector.
        window: how many words to either side a word shall predict, at most.
        negatives: random words that each predicted one is told from.
        epochs: passes over the text.
        seed: of initial vectors and random words.
        workers: threads. With more than one the vectors depend on the order in which the threads come to write them,
            so that no two runs are alike.

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
