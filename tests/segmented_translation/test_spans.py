"""The four modes by numbers worked out by hand."""

import math

import pytest

from user_dir.segmented_translation.segmentation import (
    COPY_COST,
    LAST_RESORT,
    MODES,
    Candidate,
    Choice,
    SpanOptions,
    SpanTable,
    choose,
    normalize,
    spans_of,
    translate_by_segments,
)

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
DEFAULT, REV, NORM = MODES["default"], MODES["rev"], MODES["norm"]


@pytest.mark.parametrize("name", MODES)
def test_each_mode_costs_what_its_formula_says(name):
    mode = MODES[name]
    chosen = choose(CANDIDATES, inverse=mode.inverse)
    word, expected = BY_HAND[name]
    assert chosen.words == (word,)
    cost = normalize(chosen.cost, 6) if mode.normalized else chosen.cost
    assert cost == pytest.approx(expected, rel=1e-12)


def test_no_candidate_is_the_last_resort_in_every_mode():
    for inverse in (False, True):
        assert choose([], inverse=inverse) == Choice((), LAST_RESORT)
    assert normalize(LAST_RESORT, 2) == LAST_RESORT


class UpperCase:
    """Translates into upper case; a span costs the square of its length, and back a tenth of that."""

    def __init__(self, *, inverse=True):
        self.inverse = inverse
        self.calls = []

    def __call__(self, spans):
        self.calls.append(list(spans))
        return [
            [Candidate(tuple(map(str.upper, span)), len(span) ** 2, len(span) ** 2 / 10 if self.inverse else None)]
            for span in spans
        ]

    @staticmethod
    def is_unknown(word):
        return word.startswith("?")


def table(translate=None, **options):
    translate = translate or UpperCase()
    return SpanTable(translate, UpperCase.is_unknown, SpanOptions(**options))


def translated(text, *, mode=DEFAULT, translate=None, **options):
    spans = table(translate, **options)
    spans.add([tuple(text.split())])
    return translate_by_segments(tuple(text.split()), spans, mode)


def test_all_spans_up_to_the_limit_are_translated():
    assert list(spans_of(3, 2)) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    assert list(spans_of(0, 2)) == []
    assert len(list(spans_of(60, 20))) == 41 * 20 + 19 * 20 // 2  # 1,010


def test_a_span_that_occurs_twice_is_translated_once():
    translate = UpperCase()
    spans = table(translate, longest=2)
    spans.add([("a", "b", "a", "b"), ("a", "b")])
    spans.add([("b", "a", "c")])
    assert translate.calls == [[("a",), ("a", "b"), ("b",), ("b", "a")], [("a", "c"), ("c",)]]
    assert len(spans) == 6


def test_the_part_of_a_word_that_a_translation_ends_with_is_joined_to_none():
    def cut_off(spans):
        return [[Candidate(("we@@",), 1.0)] for _ in spans]

    assert translated("a b", translate=cut_off, longest=1).text == "we we@@"


def test_an_empty_line_and_one_word_are_translated():
    assert translated("").as_record() == {"cost": 0.0, "segments": []}
    assert translated("").text == ""
    assert translated("word").text == "WORD"


def test_unknown_words_are_copied_on_request():
    assert translated("a ?b").text == "A ?B"
    translate = UpperCase()
    result = translated("a ?x ?y b", translate=translate, copy_unknown=True)
    assert result.text == "A ?x ?y B"
    assert [segment.source for segment in result.segments] == ["a", "?x ?y", "b"]
    assert result.segments[1].cost == COPY_COST == 1e-4
    assert translate.calls == [[("a",), ("b",)]], "spans with an unknown word are not translated"


def test_periods_are_added_and_taken_off():
    translate = UpperCase()
    sentence = "Le chat et Moi"

    def one_period(spans):
        translate(spans)
        return [[Candidate(("Xx", "."), 1.0)] if len(span) == 3 else [Candidate(("y",), 9.0)] for span in spans]

    result = translated(sentence, translate=one_period, add_period=True)
    assert all(span[-1] == "." for span in translate.calls[0])
    assert [segment.source for segment in result.segments] == ["Le chat", "et Moi"]
    assert result.text == "Xx xx ."


@pytest.mark.parametrize(
    ("translation", "written"),
    [(("The", "cat"), "the cat"), (("▁The", "▁cat"), "▁the ▁cat"), (("▁", "The"), "▁ the"), (("T@@", "he"), "t@@ he")],
)
def test_with_periods_only_the_first_span_begins_with_a_capital(translation, written):
    spans = table(lambda found: [[Candidate((*translation, "."), 1.0)] for _ in found], add_period=True)
    spans.add([("a",)])
    assert spans.translation(("a",), DEFAULT, first=True, last=True) == (*translation, ".")
    assert spans.translation(("a",), DEFAULT, first=False, last=True) == (*written.split(), ".")


def test_the_period_counts_in_the_length_that_divides():
    spans = table(add_period=True)
    spans.add([("a", "b")])
    assert spans.cost(("a", "b"), NORM) == pytest.approx(9 / math.log(5))


def test_a_span_without_translation_is_the_last_resort():
    def half(spans):
        return [[] if "b" in span else [Candidate(("t",), 1.0)] for span in spans]

    result = translated("a b c", translate=half, longest=2)
    assert result.text in {"t", "t t"}
    assert LAST_RESORT <= result.cost < LAST_RESORT + 3


def test_a_mode_that_needs_the_inverse_model_says_so():
    with pytest.raises(ValueError, match="an inverse model is needed"):
        translated("a", mode=REV, translate=UpperCase(inverse=False))
