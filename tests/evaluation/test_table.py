import pytest

from recurrent_mt.evaluation.table import format_number, markdown_table, text_table

ROWS = [["System", "BLEU"], ["a", "1.00"], ["a long name", "100.00"]]


def test_text():
    assert text_table(ROWS) == [
        "System         BLEU",
        "-------------------",
        "a              1.00",
        "a long name  100.00",
    ]


def test_markdown():
    assert markdown_table(ROWS) == ["| System | BLEU |", "| --- | ---: |", "| a | 1.00 |", "| a long name | 100.00 |"]


def test_a_bar_in_a_name_does_not_end_its_cell():
    assert markdown_table([["System", "BLEU"], ["a|b", "1"]])[2] == r"| a\|b | 1 |"


@pytest.mark.parametrize("table", [text_table, markdown_table])
def test_a_header_alone_is_a_table(table):
    assert len(table(ROWS[:1])) == 2


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        text_table([*ROWS, ["b"]])


def test_what_is_not_known_is_a_dash():
    assert [format_number(number, ",.1f") for number in (None, 1234.56, 0)] == ["–", "1,234.6", "0.0"]
