"""The four modes by numbers worked out by hand."""

import math

import pytest

from user_dir.segmented_translation import MODES, Candidate, SpanTable, spans_of, translate_by_segments

CANDIDATES = [
    Candidate(("near",), 2.0, 9.0),  # mean 5.5
    Candidate(("good",), 3.0, 4.0),  # mean 3.5
    Candidate(("far",), 6.0, 1.0),  # mean 3.5, later
]

#: Of a span of six words, whose divisor is log 8 = 3 log 2.
BY_HAND = {
    "default": ("near", 2.0),
    "rev": ("good", 3.5),
    "norm": ("near", 2 / (3 * math.log(2))),
    "normrev": ("good", 3.5 / (3 * math.log(2))),
}


@pytest.mark.parametrize("name", MODES)
def test_each_mode_costs_what_its_formula_says(name):
    span, table = tuple("abcdef"), SpanTable(lambda spans: [CANDIDATES for _ in spans], longest=6)
    table.add([span])
    word, expected = BY_HAND[name]
    assert table.choose(span, MODES[name]).words == (word,)
    assert table.cost(span, MODES[name]) == pytest.approx(expected, rel=1e-12)


def upper_case(spans):
    """Translates into upper case; a span costs the square of its length."""
    return [[Candidate(tuple(map(str.upper, span)), len(span) ** 2)] for span in spans]


def translated(text, translate=upper_case, longest=20):
    table = SpanTable(translate, longest)
    table.add([tuple(text.split())])
    return translate_by_segments(tuple(text.split()), table, MODES["default"])


def test_all_spans_up_to_the_limit_are_translated():
    assert list(spans_of(3, 2)) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    assert len(list(spans_of(60, 20))) == 41 * 20 + 19 * 20 // 2  # 1,010


def test_a_span_that_occurs_twice_is_translated_once():
    calls = []
    table = SpanTable(lambda spans: calls.append(spans) or upper_case(spans), longest=2)
    table.add([("a", "b", "a", "b"), ("a", "b")])
    table.add([("b", "a", "c")])
    assert calls == [[("a",), ("a", "b"), ("b",), ("b", "a")], [("a", "c"), ("c",)]]
    assert len(table) == 6


def test_the_part_of_a_word_that_a_translation_ends_with_is_joined_to_none():
    assert translated("a b", lambda spans: [[Candidate(("we@@",), 1.0)] for _ in spans], longest=1).text == "we we@@"


def test_an_empty_line_and_one_word_are_translated():
    assert translated("").as_record() == {"cost": 0.0, "segments": []}
    assert translated("").text == ""
    assert translated("word").text == "WORD"
