"""Text and dictionaries as fairseq sees them."""

from __future__ import annotations

import pytest
from fairseq.data import Dictionary

from recurrent_mt.data.word_vectors.training_text import TrainingText, dictionary_words, frequent_words


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text("a b a\n\nc\u00a0b\t\n a", encoding="utf-8")
    return path


def test_sentences_of_several_files_again_and_again(text):
    sentences = TrainingText([text, text], frozenset("ab"))
    expected = [["a", "b", "a", "</s>"], ["<unk>", "b", "</s>"], ["a", "</s>"]]
    assert list(sentences) == list(sentences) == expected * 2


def test_frequent_words_are_counted_over_all_files(text):
    assert frequent_words([text], 2) == {"a", "b"}
    assert frequent_words([text, text], 2) == {"a", "b", "c"}
    with pytest.raises(ValueError, match=r"no word occurs 9 times or more in .*text"):
        frequent_words([text], 9)


def test_words_of_fairseqs_own_dictionary(tmp_path):
    dictionary = Dictionary()
    words = ["été", "#fairseq:overwrite", "madeupword0000", "12"]
    for word in words:
        dictionary.add_symbol(word)
    dictionary.save(str(tmp_path / "dict.txt"))
    assert dictionary_words(tmp_path / "dict.txt") == set(words)
    (tmp_path / "dict.txt").write_text("<pad> 3 #fairseq:overwrite\n")
    assert dictionary_words(tmp_path / "dict.txt") == {"<pad>"}


@pytest.mark.parametrize("line", ["word", "two words 3", "", " 3"])
def test_a_bad_line_of_a_dictionary_is_named(tmp_path, line):
    path = tmp_path / "dict.txt"
    path.write_text(f"a 1\n{line}\nb 1\n")
    with pytest.raises(ValueError, match=r"dict\.txt:2: expected a word and its count"):
        dictionary_words(path)


def test_a_line_in_another_encoding_is_named(text):
    text.write_bytes(b"a 1\nb 1\n\xe9t\xe9 1\n")
    for read in (dictionary_words, lambda path: frequent_words([path], 1)):
        with pytest.raises(ValueError, match=r"text:3: not UTF-8"):
            read(text)
