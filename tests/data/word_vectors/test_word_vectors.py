"""Files of vectors: written whole, read back by fairseq and by us, refused by name where they are bad."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from fairseq import utils

from recurrent_mt.data.word_vectors import WordVectors, read_vectors, write_vectors
from tests.models.building import build

SMALL = WordVectors(
    ["</s>", "s0", "été", "#fairseq:overwrite"],
    np.array([[0.5, -1, 1e-8], [1 / 3, 2, 0], [3, 4, 0], [0, 0, 0]], dtype=np.float32),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made" / "some.vec"


def test_read_back_by_fairseq_and_by_us(path, vectors):
    for written in (SMALL, vectors):
        write_vectors(path, written)
        assert [file.name for file in path.parent.iterdir()] == ["some.vec"]
        ours, theirs = read_vectors(path), utils.parse_embedding(str(path))
        assert ours.words == tuple(theirs) == written.words
        np.testing.assert_allclose(ours.matrix, written.matrix, rtol=1e-5)
        torch.testing.assert_close(torch.stack(list(theirs.values())), torch.from_numpy(ours.matrix))


def test_a_model_starts_with_them(path):
    write_vectors(path, SMALL)
    model = build("gru_encoder", encoder_embed_dim=3, encoder_embed_path=str(path))
    dictionary, weight = model.encoder.dictionary, model.encoder.embed_tokens.weight
    for word in ("</s>", "s0"):
        expected = torch.from_numpy(SMALL.matrix[SMALL.index[word]])
        torch.testing.assert_close(weight[dictionary.index(word)].detach(), expected)
    assert weight[dictionary.index("s1")].abs().max() <= 0.1


def test_an_interrupted_writing_leaves_what_was_there(path, monkeypatch):
    write_vectors(path, SMALL)
    before = path.read_bytes()
    broken = WordVectors(["a", "b"], np.ones((2, 3), dtype=np.float32))
    broken.words = ("a", "\udc80")  # cannot be encoded
    with pytest.raises(UnicodeEncodeError):
        write_vectors(path, broken)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r": there are no vectors in it"),
        ("3\n", r", line 1: 0 numbers after '3'; there must be some"),
        ("a 1 2\nb 1\n", r", line 2: 1 numbers after 'b'; there must be 2"),
        ("2 2\na 1 2\nb 1\n", r", line 3: 1 numbers after 'b'; there must be 2"),
        ("2 2\na 1 2\na 1 3\n", r", line 3: 'a' has a vector already, in line 2"),
        ("1 2\na 1 2\nb 1 3\n", r": it has 2 vectors and its first line says 1"),
        ("1 2\na 1 two\n", r", line 2: could not convert string to float: 'two'"),
        ("a 1 nan\n", r", line 1: 'a' has a number that is not finite"),
        ("a 1 1e39\n", r", line 1: 'a' has a number that is not finite"),
        ("3 2\na 1 2\n", r": it has 1 vectors and its first line says 3: it is not complete"),
    ],
)
def test_bad_files_are_named(tmp_path, content, message):
    path = tmp_path / "bad.vec"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"bad\.vec" + message):
        read_vectors(path)


def test_without_a_header_the_first_word_has_its_vector(path):
    write_vectors(path, SMALL)
    path.write_text(path.read_text().partition("\n")[2])
    ours, theirs = read_vectors(path), utils.parse_embedding(str(path))
    assert ours.words == tuple(theirs) == SMALL.words
    model = build("gru_encoder", encoder_embed_dim=3, encoder_embed_path=str(path))
    weight = model.encoder.embed_tokens.weight.detach()
    torch.testing.assert_close(weight[model.encoder.dictionary.eos()], torch.from_numpy(SMALL.matrix[0]))


def test_nearest_by_cosine_and_directions_of_length_one():
    assert SMALL.nearest(np.array([[6.0, 8.0, 0.0], [0.0, 1.0, 0.0]])) == ["été", "s0"]
    np.testing.assert_allclose(SMALL.rows(["été", "#fairseq:overwrite"]), [[0.6, 0.8, 0], [0, 0, 0]], rtol=1e-6)
