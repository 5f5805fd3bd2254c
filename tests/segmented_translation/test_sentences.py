"""The dynamic program against every segmentation there is."""

import math
import random

import pytest

from user_dir.segmented_translation import cheapest_segmentation


def every_segmentation(length, longest):
    """Tuples of (start, end), by where the first span ends."""
    if length == 0:
        return [()]
    found = []
    for first in range(1, min(length, longest) + 1):
        for rest in every_segmentation(length - first, longest):
            found.append(((0, first), *((start + first, end + first) for start, end in rest)))
    return found


def cuts(costs, length, longest):
    return tuple(cheapest_segmentation(length, lambda start, end: costs[start, end], longest=longest))


def test_the_cuts_are_as_cheap_as_the_cheapest_segmentation():
    for seed in range(60):
        generator = random.Random(seed)
        length, longest = generator.randint(1, 9), generator.randint(1, 9)
        costs = {(i, j): generator.uniform(0, 9) for i in range(length) for j in range(i + 1, length + 1)}
        cheapest = min(every_segmentation(length, longest), key=lambda spans: sum(map(costs.get, spans)))
        assert cuts(costs, length, longest) == cheapest


def test_the_longest_last_span_wins_a_tie_in_every_prefix():
    """Costs are small whole numbers, so that many segmentations cost the same."""
    for seed in range(30):
        generator = random.Random(seed)
        length, longest = generator.randint(2, 9), generator.randint(2, 9)
        costs = {(i, j): generator.randint(1, 3) for i in range(length) for j in range(i + 1, length + 1)}
        totals = {spans: sum(map(costs.get, spans)) for spans in every_segmentation(length, longest)}
        cheapest = [spans for spans, total in totals.items() if total == min(totals.values())]
        expected = min(cheapest, key=lambda spans: [start for start, _ in reversed(spans)])
        assert cuts(costs, length, longest) == expected


def test_sentences_of_no_word_one_word_and_one_span():
    spans = [cheapest_segmentation(length, lambda start, end: 1.5, longest=3) for length in (0, 1, 3)]
    assert spans == [[], [(0, 1)], [(0, 3)]]


def test_costs_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="no segmentation of the 3 words has a cost that is a number"):
        cheapest_segmentation(3, lambda start, end: math.nan if end == 3 else 1.0, longest=3)
