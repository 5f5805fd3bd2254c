"""The four modes by numbers worked out by hand."""

import math

import pytest

from user_dir.segmented_translation.confidence import (
    DIVISORS,
    LAST_RESORT,
    MODES,
    Candidate,
    Choice,
    choose,
    normalize,
    paper_divisor,
)

CANDIDATES = [
    Candidate(("near",), 2.0, 9.0),  # mean 5.5
    Candidate(("good",), 3.0, 4.0),  # mean 3.5
    Candidate(("far",), 6.0, 1.0),  # mean 3.5, later
]

#: Of a span of six words, whose divisor is log 8 = 3 log 2 in the code and log 6 in the paper.
BY_HAND = {
    "default": ("near", 2.0, 2.0),
    "rev": ("good", 3.5, 3.5),
    "norm": ("near", 2 / (3 * math.log(2)), 2 / math.log(6)),
    "normrev": ("good", 3.5 / (3 * math.log(2)), 3.5 / math.log(6)),
}


@pytest.mark.parametrize("name", MODES)
def test_each_mode_costs_what_its_formula_says(name):
    mode = MODES[name]
    chosen = choose(CANDIDATES, inverse=mode.inverse)
    word, by_code, by_paper = BY_HAND[name]
    assert chosen.words == (word,)
    for divisor, expected in (("code", by_code), ("paper", by_paper)):
        cost = normalize(chosen.cost, 6, DIVISORS[divisor]) if mode.normalized else chosen.cost
        assert cost == pytest.approx(expected, rel=1e-12)


def test_the_modes_are_the_four_of_the_code():
    assert list(MODES) == list(BY_HAND)


def test_a_single_word_costs_the_last_resort_by_the_papers_divisor():
    assert normalize(0.5, 1) == pytest.approx(0.5 / math.log(3))
    assert normalize(0.5, 1, paper_divisor) == LAST_RESORT


def test_no_candidate_is_the_last_resort_in_every_mode():
    for inverse in (False, True):
        assert choose([], inverse=inverse) == Choice((), LAST_RESORT)
    for words in (1, 2, 20):
        assert normalize(LAST_RESORT, words) == LAST_RESORT


def test_a_mode_that_needs_the_missing_inverse_model_is_refused():
    with pytest.raises(ValueError, match="no inverse cost"):
        choose([Candidate(("word",), 1.0)], inverse=True)
