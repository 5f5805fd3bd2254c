"""The dynamic program against every segmentation there is."""

import math
import random

import pytest

from user_dir.segmented_translation.segmentation import cheapest_segmentation


def every_segmentation(length, longest):
    """Tuples of (start, end), by where the first span ends."""
    if length == 0:
        return [()]
    found = []
    for first in range(1, min(length, longest) + 1):
        for rest in every_segmentation(length - first, longest):
            found.append(((0, first), *((start + first, end + first) for start, end in rest)))
    return found


def test_the_segmentations_compared_with_are_all_there_are():
    assert len(every_segmentation(10, 10)) == 2**9
    assert len(every_segmentation(4, 2)) == 5  # the Fibonacci numbers


@pytest.mark.parametrize("seed", range(60))
def test_the_cuts_are_as_cheap_as_the_cheapest_segmentation(seed):
    generator = random.Random(seed)
    length, longest = generator.randint(1, 10), generator.randint(1, 10)
    forbidden = generator.choice([0.0, 0.3])
    costs = {}
    for start in range(length):
        for end in range(start + 1, length + 1):
            wide = end - start > 1  # words alone are allowed, so that there always is a segmentation
            costs[start, end] = math.inf if wide and generator.random() < forbidden else generator.uniform(0, 9)
    found = cheapest_segmentation(length, lambda start, end: costs[start, end], longest=longest)
    best = min(every_segmentation(length, longest), key=lambda spans: sum(costs[span] for span in spans))
    assert found.spans == best
    assert found.cost == pytest.approx(sum(costs[span] for span in best))


@pytest.mark.parametrize("seed", range(30))
def test_the_longest_last_span_wins_a_tie_in_every_prefix(seed):
    """Costs are small whole numbers, so that many segmentations cost the same."""
    generator = random.Random(seed)
    length, longest = generator.randint(2, 9), generator.randint(2, 9)
    costs = {(start, end): generator.randint(1, 3) for start in range(length) for end in range(start + 1, length + 1)}
    every = every_segmentation(length, longest)
    totals = {spans: sum(costs[span] for span in spans) for spans in every}
    cheapest = [spans for spans in every if totals[spans] == min(totals.values())]
    expected = min(cheapest, key=lambda spans: [start for start, _ in reversed(spans)])
    assert cheapest_segmentation(length, lambda start, end: costs[start, end], longest=longest).spans == expected


def test_a_tie_of_cuts_is_broken_as_worked_out_by_hand():
    costs = {(0, 1): 1, (1, 2): 1, (0, 2): 2}
    assert cheapest_segmentation(2, lambda start, end: costs[start, end], longest=2).spans == ((0, 2),)


def test_sentences_of_no_word_one_word_and_one_span():
    def cost(start, end):
        return 1.5

    assert cheapest_segmentation(0, cost, longest=3) == type(cheapest_segmentation(1, cost, longest=3))(0.0, ())
    assert cheapest_segmentation(1, cost, longest=3).spans == ((0, 1),)
    whole = cheapest_segmentation(3, cost, longest=3)
    assert whole.spans == ((0, 3),) and whole.cost == 1.5


@pytest.mark.parametrize("longest", [1, 2, 5])
def test_no_span_beyond_the_limit_is_requested(longest):
    asked = []

    def cost(start, end):
        asked.append(end - start)
        return 1.0

    spans = cheapest_segmentation(11, cost, longest=longest).spans
    assert max(asked) == longest == max(end - start for start, end in spans)
    assert len(spans) == math.ceil(11 / longest)


def test_words_that_no_span_may_cover_are_refused():
    with pytest.raises(ValueError, match="every segmentation of the 3 words has a forbidden span"):
        cheapest_segmentation(3, lambda start, end: math.inf if end == 3 else 1.0, longest=3)


@pytest.mark.parametrize("cost", [math.nan, -math.inf])
def test_a_cost_that_is_no_number_is_refused(cost):
    with pytest.raises(ValueError, match="the span from word 1 to word 1 has the cost"):
        cheapest_segmentation(3, lambda start, end: cost, longest=2)


def test_a_limit_of_no_words_is_refused():
    with pytest.raises(ValueError, match="at least one word, not 0"):
        cheapest_segmentation(3, lambda start, end: 1.0, longest=0)
