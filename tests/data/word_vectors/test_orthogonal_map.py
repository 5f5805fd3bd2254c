"""Maps between two languages' vectors."""

from __future__ import annotations

import numpy as np
import pytest

from recurrent_mt.data.word_vectors import (
    WordVectors,
    apply_map,
    covered_pairs,
    fit_map,
    precision_at_one,
    read_lexicon,
)

SIZE = 12


@pytest.fixture
def rotated():
    """Vectors, an orthogonal matrix, and the vectors of another language: rotated, stretched, a little noisy."""
    generator = np.random.default_rng(1)
    rotation = np.linalg.qr(generator.normal(size=(SIZE, SIZE)))[0]
    source = generator.normal(size=(60, SIZE))
    lengths = generator.uniform(0.5, 3, size=(60, 1))
    target = lengths * (source @ rotation) + generator.normal(scale=1e-3, size=source.shape)
    words = range(60)
    return (
        WordVectors([f"a{word}" for word in words], source),
        rotation,
        WordVectors([f"b{word}" for word in words], target),
    )


def pairs(words):
    return [(f"a{word}", f"b{word}") for word in words]


def test_a_known_rotation_is_found(rotated):
    source, rotation, target = rotated
    found = fit_map(pairs(range(40)), source, target)
    np.testing.assert_allclose(found, rotation, atol=2e-3)
    np.testing.assert_allclose(found @ found.T, np.eye(SIZE), atol=1e-12)
    assert precision_at_one(pairs(range(40, 60)), apply_map(source, found), target) == 1
    assert precision_at_one(pairs(range(40, 60)), source, target) < 0.5


def test_mapping_keeps_lengths_and_angles(rotated):
    source, rotation, _ = rotated
    there = apply_map(source, rotation)
    np.testing.assert_allclose(there.matrix @ there.matrix.T, source.matrix @ source.matrix.T, atol=1e-9)


def test_precision_counts_words_with_any_of_their_translations():
    source = WordVectors(["x", "y", "z"], np.array([[1.0, 0], [0, 1], [1, 1]]))
    target = WordVectors(["X", "Y", "Z"], np.array([[2.0, 0.1], [0, 3], [-1, -1]]))
    lines = [("x", "Z"), ("x", "X"), ("y", "Y"), ("z", "Z")]
    assert precision_at_one(lines, source, target) == pytest.approx(2 / 3)


def test_vectors_that_do_not_fit_and_lexicons_of_other_words(rotated):
    source, _, target = rotated
    with pytest.raises(ValueError, match="vectors of 12 numbers cannot be mapped onto vectors of 2"):
        fit_map(pairs([1]), source, WordVectors(["b1"], np.ones((1, 2))))
    for function in (fit_map, precision_at_one):
        with pytest.raises(ValueError, match="no pair of the lexicon has a vector on both sides"):
            function([], source, target)
    assert covered_pairs([("a1", "b2"), ("a1", "c"), ("c", "b1")], source, target) == [("a1", "b2")]


@pytest.mark.parametrize(("line", "count"), [("alone", 1), ("three words here", 3), ("", 0)])
def test_a_bad_line_of_a_lexicon_is_named(tmp_path, line, count):
    path = tmp_path / "lexicon"
    path.write_text(f"one un\ntwo\tdeux\n{line}\n")
    with pytest.raises(ValueError, match=rf"lexicon, line 3: expected a word and its translation, found {count} words"):
        read_lexicon(path)
    path.write_text("one un\ntwo\tdeux\n")
    assert read_lexicon(path) == [("one", "un"), ("two", "deux")]


def test_empty_and_wrongly_encoded_lexicons_are_named(tmp_path):
    path = tmp_path / "lexicon"
    path.write_text("")
    with pytest.raises(ValueError, match="lexicon: the file is empty"):
        read_lexicon(path)
    path.write_bytes(b"\xe9t\xe9 summer\n")
    with pytest.raises(ValueError, match="lexicon, line 1: byte 1 is not UTF-8"):
        read_lexicon(path)
