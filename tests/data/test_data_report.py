import pytest

from recurrent_mt.data.data_report import SideStatistics, as_markdown, count_side, read_dictionary
from recurrent_mt.data.lines import TextError


def test_counts():
    side = count_side(["a b a\n", "\n", "c d d d\n"], {"a", "b"})
    assert side == SideStatistics(sentences=3, tokens=7, longest=4, types=4, unknown_tokens=4, unknown_types=2)


def test_dictionary(tmp_path):
    path = tmp_path / "dict.fr.txt"
    path.write_text("le 12\nla 3\nmadeupword0000 0\n")
    assert read_dictionary(path) == {"le", "la"}
    path.write_text("le 12\nla\n")
    with pytest.raises(TextError, match=r"dict.fr.txt line 2: expected a token and its count, not 'la'"):
        read_dictionary(path)


def test_markdown():
    side = SideStatistics(sentences=4, tokens=1000, longest=400, types=90, unknown_tokens=25, unknown_types=20)
    text = as_markdown({("test", "fr"): side}, {"fr": 3000, "en": 10})
    assert "3,000 tokens of fr, 10 tokens of en" in text
    assert "| test | fr | 4 | 1,000 | 250.0 | 400 | 90 | 25 (2.50%) | 20 |" in text
