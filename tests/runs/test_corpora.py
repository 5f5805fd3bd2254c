"""Parallel text: what is found in it before anything starts."""

import pytest

from recurrent_mt.runs.corpora import check_files, check_pair
from recurrent_mt.runs.experiment import Experiment
from recurrent_mt.text_files import FileError

PAIR = ("fr", "en")


def write(folder, name, french, english):
    for language, lines in zip(PAIR, (french, english), strict=True):
        (folder / f"{name}.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def test_empty_lines_are_counted_where_they_may_be_and_refused_elsewhere(tmp_path):
    prefix = write(tmp_path, "train", ["a", "", " "], ["A", "B", "C"])
    (note,) = check_pair(prefix, PAIR, may_have_empty_lines=True)
    assert note == f"{prefix}.fr has 2 empty line(s), the first is line 2: these pairs are dropped."
    with pytest.raises(FileError, match="first is line 2: remove or fill the pair"):
        check_pair(prefix, PAIR, may_have_empty_lines=False)


@pytest.mark.parametrize(
    ("french", "message"),
    [
        (None, "there is no such file"),
        (b"", "it is empty, and"),
        (b"a\n\xff\n", "line 2.*UTF-8"),
        (b"a\n", "ends after line 1 and .*train.en goes on"),
    ],
)
def test_a_text_that_cannot_be_used_is_named(french, message, tmp_path):
    (tmp_path / "train.en").write_text("A\nB\n")
    if french is not None:
        (tmp_path / "train.fr").write_bytes(french)
    with pytest.raises(FileError, match=message):
        check_pair(str(tmp_path / "train"), PAIR, may_have_empty_lines=True)


def notes_of(folder, **extra_tests):
    return check_files(Experiment(pair="fr-en", corpus=str(folder), extra_tests=extra_tests))


def test_pairs_of_test_sets_that_are_in_the_training_text_are_counted(tmp_path):
    write(tmp_path, "train", ["un", " deux", "", "trois", "quatre"], ["one", "two ", "none", "three", "four"])
    write(tmp_path, "valid", ["un"], ["one"])
    write(tmp_path, "test", ["deux", "deux", "trois", "un"], ["two", "two", "four", "two"])
    far, near = write(tmp_path, "far", ["Un"], ["one"]), write(tmp_path, "near", ["quatre"], ["four"])
    end = "too: scores of these are those of a text that was learned."
    empty, *learned = notes_of(tmp_path, far=far, near=near)
    assert "1 empty line(s)" in empty
    assert learned == [
        f"{tmp_path}/train has 2 of the 4 pairs of {tmp_path}/test, {end}",
        f"{tmp_path}/train has 1 of the 1 pairs of {near}, {end}",
    ]


def test_nothing_is_said_of_test_sets_that_are_not_in_the_training_text(tmp_path):
    write(tmp_path, "train", ["un", "deux"], ["one", "two"])
    write(tmp_path, "valid", ["trois"], ["three"])
    write(tmp_path, "test", ["un", "trois"], ["two", "one"])
    assert notes_of(tmp_path) == []
