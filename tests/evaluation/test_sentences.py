import pytest

from recurrent_mt.evaluation.log_lines import LogError
from recurrent_mt.evaluation.sentences import read_sentences


def test_lines_end_at_a_line_feed_alone(tmp_path):
    file = tmp_path / "text"
    file.write_bytes("one\r\n\n two \u2028 three\x0bfour\r\nlast".encode())
    assert read_sentences(file) == ["one", "", " two \u2028 three\x0bfour", "last"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "text: there are no sentences"),
        (b"one\nd\xe9j\xe0\n", "text, line 2: byte 2 is not UTF-8"),
        ("one\n".encode("utf-8-sig"), "text, line 1: begins with a byte order mark"),
        (None, "text: there is no such file"),
    ],
)
def test_bad_files_are_named_with_the_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "text").write_bytes(content)
    with pytest.raises(LogError, match=message):
        read_sentences(tmp_path / "text")
