"""Files of word vectors, with and without a header."""

from __future__ import annotations

import pytest
from fairseq import utils

GLOVE = "the 1 2 3\nof -1 0.5 1e-3\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.vec"


@pytest.mark.parametrize(
    "content",
    [GLOVE, "2 3\n" + GLOVE, "2 3 \n" + GLOVE.replace("\n", " \n"), "\ufeff" + GLOVE, GLOVE.replace("\n", "\r\n")],
    ids=["without a header", "with one", "fastText's", "with a byte order mark", "Windows"],
)
def test_every_word_has_its_vector(path, content):
    path.write_text(content, encoding="utf-8", newline="")
    vectors = utils.parse_embedding(str(path))
    assert {word: vector.tolist() for word, vector in vectors.items()} == {
        "the": [1, 2, 3],
        "of": [-1, 0.5, pytest.approx(1e-3)],
    }


def test_words_of_figures_and_other_separators_are_words(path):
    path.write_text("7 1 2\n\x85 3 4\n. . 5 6\n", encoding="utf-8")
    assert list(utils.parse_embedding(str(path))) == ["7", "\x85", ". ."]


def test_a_word_that_is_there_twice_keeps_its_first_vector(path):
    path.write_text(GLOVE + "the 7 8 9\n")
    assert utils.parse_embedding(str(path))["the"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1 2\nof 1\n", r", line 2: could not convert string to float: 'of'"),
        ("1 2\n\udcff 1 2\n", r", line 2: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_what_is_no_vector_is_named_by_its_line(path, content, message):
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ValueError, match=r"some\.vec" + message):
        utils.parse_embedding(str(path))
