from math import nan, sqrt

import numpy as np
import pytest

from recurrent_mt.ratings.campaign import ADEQUACY, ASSESSMENT
from recurrent_mt.ratings.ratings import Item, Ratings
from recurrent_mt.ratings.scores import average_sentences, compute_agreement, score_scale, standardize

#: Two sentences, two systems that translated the second one alike.
ITEMS = (Item("1", ("x",)), Item("1", ("y",)), Item("2", ("x", "y")))

#: Krippendorff's own example (Computing Krippendorff's Alpha-Reliability, 2011, section C): four observers, twelve
#: units, missing data; his results are 0.815 for ordinal and 0.849 for interval data.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
]


def direct(name, values):
    return Ratings(f"{name}.json", name, {"assessment": values})


def rated(name, *values):
    return direct(name, {item: value for item, value in zip(ITEMS, values, strict=True) if value is not None})


def as_units(rows):
    units = [Item(f"{number:02}", ("x",)) for number in range(12)]
    return [{unit: value for unit, value in zip(units, row, strict=True) if not np.isnan(value)} for row in rows]


def test_an_interval_needs_enough_sentences_with_standardized_ratings():
    """Who rates everything alike has none; means of what was given need no others."""
    items = [Item(f"{number:02}", (system,)) for number in range(20) for system in "xy"]
    flat = direct("flat", dict.fromkeys(items, 50))
    for sentences, has_interval in ((9, False), (10, True)):
        values = {
            item: (80 if item.systems == ("x",) else 20) + int(item.sentence) % 2
            for item in items
            if int(item.sentence) < sentences
        }
        scores = score_scale([flat, direct("ben", values)], ASSESSMENT, resamples=20)
        assert scores.constant == ("flat",) and [one.sentences for one in scores.systems] == [20, 20]
        for one in (*scores.systems, *scores.differences):
            assert one.z is not None and (one.low is not None) == has_interval


def test_z_scores_by_hand():
    # Mean 50; deviations −30 −10 0 40; their squares sum to 2600; over n − 1 = 3.
    deviation = sqrt(2600 / 3)
    z = standardize({"a": 20, "b": 40, "c": 50, "d": 90})
    assert z == pytest.approx({"a": -30 / deviation, "b": -10 / deviation, "c": 0, "d": 40 / deviation})


@pytest.mark.parametrize("values", [{}, {"a": 3}, {"a": 3, "b": 3, "c": 3}])
def test_no_z_scores_without_differences(values):
    assert standardize(values) is None


def test_system_means_by_hand(monkeypatch):
    monkeypatch.setattr("recurrent_mt.ratings.scores.FEWEST_SENTENCES", 2)
    scores = score_scale([rated("a", 80, 20, 50), rated("b", 60, 50, 40)], ASSESSMENT)
    # a: mean 50, deviation 30: z = 1 −1 0; b: mean 50, deviation 10: z = 1 0 −1.
    x, y = scores.systems
    assert (x.system, y.system) == ("x", "y")
    assert (x.mean, y.mean) == ((70 + 45) / 2, (35 + 45) / 2)
    assert x.z == pytest.approx((1 + -0.5) / 2)
    assert y.z == pytest.approx((-0.5 + -0.5) / 2)
    assert (x.sentences, y.sentences) == (2, 2)
    # Resamples of two sentences: x is 1, 0.25 or −0.5; y is always −0.5; x − y is 1.5, 0.75 or 0.
    assert (x.low, x.high) == pytest.approx((-0.5, 1))
    assert (y.low, y.high) == pytest.approx((-0.5, -0.5))
    (difference,) = scores.differences
    assert (difference.first, difference.second) == ("x", "y")
    assert (difference.z, difference.low, difference.high) == pytest.approx((0.75, 0, 1.5))


def test_two_ratings_of_one_system_count_both():
    together, alone = Item("1", ("x", "y")), Item("1", ("x",))
    assert average_sentences([{together: 20, alone: 60}], [together, alone], ["x", "y"]).tolist() == [[40, 20]]


def test_the_better_system_comes_first():
    scores = score_scale([rated("a", 20, 80, 50)], ASSESSMENT)
    assert [score.system for score in scores.systems] == ["y", "x"]
    assert scores.differences[0].z > 0


def test_unrated_items_leave_the_other_annotators():
    scores = score_scale([rated("a", 80, 20, 50), rated("b", None, 50, 40)], ASSESSMENT)
    assert {score.system: score.mean for score in scores.systems} == {"x": (80 + 45) / 2, "y": (35 + 45) / 2}


def test_an_annotator_whose_ratings_are_alike():
    scores = score_scale([rated("a", 80, 20, 50), rated("b", 70, 70, 70)], ASSESSMENT)
    assert scores.constant == ("b",)
    assert scores.systems[0].z == pytest.approx(0.5)
    assert scores.systems[0].mean == (75 + 60) / 2
    alone = score_scale([rated("b", 70, 70, 70)], ASSESSMENT)
    assert [(score.z, score.low, score.high) for score in alone.systems] == [(None, None, None)] * 2
    assert alone.differences[0].z is None


def test_the_interval_is_as_wide_as_theory_says():
    values = np.random.default_rng(0).integers(0, 101, size=400).tolist()
    ratings = direct("a", {Item(str(number), ("x",)): value for number, value in enumerate(values)})
    (score,) = score_scale([ratings], ASSESSMENT, resamples=4000).systems
    assert score.z == pytest.approx(0, abs=1e-12)
    assert score.high == pytest.approx(1.96 / sqrt(400), rel=0.06)
    assert score.low == pytest.approx(-1.96 / sqrt(400), rel=0.06)


def test_alpha_is_krippendorffs_own():
    ordinal, interval = (compute_agreement(as_units(OBSERVERS), scale) for scale in (ADEQUACY, ASSESSMENT))
    assert (ordinal.level, round(ordinal.alpha, 3)) == ("ordinal", 0.815)
    assert (interval.level, round(interval.alpha, 3)) == ("interval", 0.849)
    assert ordinal.items == 11


def test_no_alpha():
    assert compute_agreement([{"a": 1.0, "b": 2.0}], ADEQUACY).reason == "no item was rated by two annotators"
    assert compute_agreement([{"a": 1.0}, {"b": 2.0}], ADEQUACY).alpha is None
    same = compute_agreement([{"a": 1.0, "b": 4.0}, {"a": 1.0}], ADEQUACY)
    assert (same.alpha, same.reason) == (None, "all ratings are the same")


def test_what_cannot_be_scored():
    with pytest.raises(ValueError, match="resamples is 1"):
        score_scale([rated("a", 1, 2, 3)], ASSESSMENT, resamples=1)
