"""What skip-gram vectors know of the grammar that made their text."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
from fairseq.data import Dictionary

from recurrent_mt.data.synthetic.lexicon import lexicon
from recurrent_mt.data.word_vectors import END, UNKNOWN, TrainingText, WordVectors, frequent_words, train_skip_gram
from recurrent_mt.text_files import read_dictionary


def same_class_share(vectors: WordVectors, classes: dict[str, str]) -> float:
    """How many words have one of their own class as their nearest neighbor among these words."""
    words = list(classes)
    cosines = vectors.rows(words) @ vectors.rows(words).T
    np.fill_diagonal(cosines, -2)
    return float(np.mean([classes[words[j]] == classes[words[i]] for i, j in enumerate(cosines.argmax(axis=1))]))


def by_chance(classes: dict[str, str]) -> float:
    """How often two different words are of one class."""
    sizes = Counter(classes.values())
    return sum(size * (size - 1) for size in sizes.values()) / (len(classes) * (len(classes) - 1))


def test_words_of_a_class_are_nearest_to_each_other(text, vectors):
    counts = Counter(word for sentence in text for word in sentence)
    words = lexicon()
    of_speech = {
        "noun": words.nouns,
        "adjective": words.adjectives,
        "name": words.proper_nouns,
        "adverb": words.adverbs,
    }
    parts = {word.fr: part for part, entries in of_speech.items() for word in entries if counts[word.fr] >= 20}
    nouns = {noun.fr: noun.noun_class for noun in words.nouns if counts[noun.fr] >= 20}
    assert len(parts) > 200 and len(nouns) > 100
    drawn = WordVectors(vectors.words, np.random.default_rng(1).normal(size=vectors.matrix.shape))
    assert same_class_share(drawn, parts) < 1.5 * by_chance(parts) < 0.5
    assert same_class_share(vectors, parts) > 0.85
    # What a noun means shows only in the verbs and adjectives that the grammar lets it go with.
    assert same_class_share(vectors, nouns) > 2 * by_chance(nouns)


def test_the_end_of_a_sentence_and_the_unknown_word_have_vectors(text, vectors):
    words = Counter(word for sentence in text for word in sentence)
    assert words[END] == 8000 and words[UNKNOWN] > 300
    assert set(vectors.words) == set(words) == text.known | {END, UNKNOWN}
    assert np.linalg.norm(vectors.matrix[vectors.index[UNKNOWN]]) > 0.5


def test_the_same_seed_gives_the_same_vectors_and_another_others(text, settings):
    pytest.importorskip("gensim", reason="gensim has no release for this Python")
    first, again, other = (train_skip_gram(text, **{**settings, "epochs": 1, "seed": seed}) for seed in (1, 1, 2))
    assert first.words == again.words == other.words
    np.testing.assert_array_equal(first.matrix, again.matrix)
    assert np.abs(other.matrix - first.matrix).max() > 0.1


@pytest.mark.parametrize("name", ["size", "window", "negatives", "epochs", "workers"])
def test_a_number_below_one_is_named(name, text, settings):
    with pytest.raises(ValueError, match=f"--{name} must be at least 1, not 0"):
        train_skip_gram(text, **{**settings, name: 0})


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text"
    path.write_text("a b a\n\nc\u00a0b\t\n a", encoding="utf-8")
    return path


def test_without_gensim_it_is_said_where_there_is_one(text, settings, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "gensim"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ModuleNotFoundError, match="need gensim, which has no release for Python 3"):
        train_skip_gram(text, **settings)


def test_sentences_of_several_files_again_and_again(text_file):
    sentences = TrainingText([text_file, text_file], frozenset("ab"))
    expected = [["a", "b", "a", "</s>"], ["<unk>", "b", "</s>"], ["a", "</s>"]]
    assert list(sentences) == list(sentences) == expected * 2


def test_frequent_words_are_counted_over_all_files(text_file):
    assert frequent_words([text_file], 2) == {"a", "b"}
    assert frequent_words([text_file, text_file], 2) == {"a", "b", "c"}
    with pytest.raises(ValueError, match=r"no word occurs 9 times or more in .*text"):
        frequent_words([text_file], 9)


def test_the_dictionary_that_fairseq_writes_is_read(tmp_path):
    dictionary = Dictionary()
    words = ["été", "#fairseq:overwrite", "madeupword0000", "12"]
    for word in words:
        dictionary.add_symbol(word)
    dictionary.save(str(tmp_path / "dict.txt"))
    assert list(read_dictionary(tmp_path / "dict.txt")) == [word for word in words if word != "madeupword0000"]
    (tmp_path / "dict.txt").write_text("<pad> 3 #fairseq:overwrite\n")
    assert read_dictionary(tmp_path / "dict.txt") == {"<pad>": 3}


def test_a_line_of_text_in_another_encoding_is_named(text_file):
    text_file.write_bytes(b"a\nb\n\xe9t\xe9\n")
    with pytest.raises(ValueError, match="text, line 3: byte 1 is not UTF-8"):
        frequent_words([text_file], 1)
