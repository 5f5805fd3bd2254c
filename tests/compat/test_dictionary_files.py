"""A dictionary that cannot be read is named, with what is wrong in it."""

import pytest
from fairseq.data import Dictionary


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("dog 3\ncat\n", r"dict\.en\.txt: Incorrect dictionary format, expected '<token> <cnt> \[flags\]': \"cat"),
        ("dog three\n", r"dict\.en\.txt: Incorrect dictionary format"),
        ("dog 3\ndog 2\n", r"dict\.en\.txt: Duplicate word found when loading Dictionary: 'dog'"),
        ("<unk> 3\n", r"dict\.en\.txt: Duplicate word found"),
        ("__import__('os').mkdir('x') y\n", r"dict\.en\.txt: Incorrect dictionary format"),
    ],
)
def test_a_broken_line_of_a_dictionary_and_its_file_are_named(tmp_path, content, message):
    path = tmp_path / "dict.en.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        Dictionary.load(str(path))


def test_a_good_dictionary_is_read(tmp_path):
    path = tmp_path / "dict.en.txt"
    path.write_text("dog 3\ncat 2\n")
    assert Dictionary.load(str(path)).symbols[-2:] == ["dog", "cat"]
