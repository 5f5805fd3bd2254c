from math import nan, sqrt

import numpy as np
import pytest

from recurrent_mt.ratings.ratings import Ratings, read_key
from recurrent_mt.ratings.scores import (
    check_controls,
    compute_agreement,
    compute_sign_change_p_value,
    score_scale,
    standardize,
)
from recurrent_mt.ratings.study import ADEQUACY, ASSESSMENT
from tests.ratings.studies import bare_key, key_of, make_study, ratings_of, write

#: Two sentences, two systems that translated the second one alike, and one control.
ITEMS = {
    "1": (1, ["x"], "system", None),
    "2": (1, ["y"], "system", None),
    "3": (2, ["x", "y"], "system", None),
    "4": (1, ["y"], "degraded", "2"),
}

#: Krippendorff's own example (Computing Krippendorff's Alpha-Reliability, 2011, section C): four observers, twelve
#: units, missing data; his results are 0.815 for ordinal and 0.849 for interval data.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
]
ATTENTIVE = {"system": 4, "repeat": 4, "filler": 4, "degraded": 2}


@pytest.fixture
def key(tmp_path):
    return read_key(write(tmp_path / "key.json", bare_key(ITEMS)))


def rated(name, *values):
    answers = {item: value for item, value in zip(ITEMS, values, strict=True) if value is not None}
    return Ratings(f"{name}.json", name, {"assessment": answers}, (), dict.fromkeys(ITEMS, 1.0))


def as_units(rows):
    return [{str(unit): value for unit, value in enumerate(row) if not np.isnan(value)} for row in rows]


def test_an_interval_needs_enough_sentences_with_standardized_ratings(tmp_path):
    """Who rates everything alike has none; means of what was given need no others."""
    items = {f"{system}{number}": (number, [system], "system", None) for number in range(20) for system in "xy"}
    key = read_key(write(tmp_path / "key.json", bare_key(items)))

    def rate(name, sentences, **values):
        answers = {item: values[item[0]] + int(item[1:]) % 2 for item in items if int(item[1:]) < sentences}
        return Ratings(f"{name}.json", name, {"assessment": answers}, (), dict.fromkeys(items, 1.0))

    flat = Ratings("flat.json", "flat", {"assessment": dict.fromkeys(items, 50)}, (), dict.fromkeys(items, 1.0))
    for sentences, has_interval in ((9, False), (10, True)):
        scores = score_scale([flat, rate("ben", sentences, x=80, y=20)], key, ASSESSMENT, resamples=20)
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


def test_system_means_by_hand(key, monkeypatch):
    monkeypatch.setattr("recurrent_mt.ratings.scores.FEWEST_SENTENCES", 2)
    # The control's 5 and 0 must not matter.
    scores = score_scale([rated("a", 80, 20, 50, 5), rated("b", 60, 50, 40, 0)], key, ASSESSMENT)
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


def test_the_better_system_comes_first(key):
    scores = score_scale([rated("a", 20, 80, 50, 5)], key, ASSESSMENT)
    assert [score.system for score in scores.systems] == ["y", "x"]
    assert scores.differences[0].z > 0


def test_unrated_items_leave_the_other_annotators(key):
    scores = score_scale([rated("a", 80, 20, 50, 5), rated("b", None, 50, 40, 0)], key, ASSESSMENT)
    assert {score.system: score.mean for score in scores.systems} == {"x": (80 + 45) / 2, "y": (35 + 45) / 2}


def test_an_annotator_whose_ratings_are_alike(key):
    scores = score_scale([rated("a", 80, 20, 50, 5), rated("b", 70, 70, 70, 0)], key, ASSESSMENT)
    assert scores.constant == ("b",)
    assert scores.systems[0].z == pytest.approx(0.5)
    assert scores.systems[0].mean == (75 + 60) / 2
    alone = score_scale([rated("b", 70, 70, 70, 0)], key, ASSESSMENT)
    assert [(score.z, score.low, score.high) for score in alone.systems] == [(None, None, None)] * 2
    assert alone.differences[0].z is None


def test_the_interval_is_as_wide_as_theory_says(tmp_path):
    items = {str(i): (i, ["x"], "system", None) for i in range(1, 401)}
    key = read_key(write(tmp_path / "many.json", bare_key(items, systems=["x"])))
    values = np.random.default_rng(0).integers(0, 101, size=400)
    ratings = Ratings("a.json", "a", {"assessment": dict(zip(items, values.tolist()))}, (), {})
    (score,) = score_scale([ratings], key, ASSESSMENT, resamples=4000).systems
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


def test_what_cannot_be_scored(key):
    with pytest.raises(ValueError, match="there are no annotators left"):
        score_scale([], key, ASSESSMENT)
    with pytest.raises(ValueError, match="resamples is 1"):
        score_scale([rated("a", 1, 2, 3, 4)], key, ASSESSMENT, resamples=1)
    with pytest.raises(ValueError, match="system 'y' has no rating on the scale assessment"):
        score_scale([rated("a", 1, None, None, 4)], key, ASSESSMENT)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        # All of one sign: one of 2^n changes of signs is as large.
        ([3, 1, 4, 1, 5], 1 / 32),
        # 1 + 2 + 3 − 4 = 2: the sums of ±1 ±2 ±3 ±4 that are 2 or more are 7 of 16 (10 8 6 4 4 2 2).
        ([1, 2, 3, -4], 7 / 16),
        # 2 − 1 = 1: 3 and 1 of the sums 3 1 −1 −3.
        ([2, -1], 2 / 4),
        ([0, 0, 0], 1),
        ([-1, -2], 1),
        # A difference of zero has one sign only.
        ([0, 5], 1 / 2),
    ],
)
def test_p_values_by_hand(differences, p):
    assert compute_sign_change_p_value(differences) == pytest.approx(p)


@pytest.mark.parametrize("mode", ["side-by-side", "direct"])
def test_an_attentive_annotator_passes(mode, tmp_path):
    study = make_study(mode, repeats=3, degraded=5)
    ratings = ratings_of(study, tmp_path, lambda item, scale: ATTENTIVE[item.kind])
    controls = check_controls(ratings, key_of(study, tmp_path))
    assert (controls.failures, controls.remarks) == ((), ())
    assert (controls.degraded_pairs, controls.degraded_p) == (5, 1 / 32)
    assert controls.degraded_drop == pytest.approx(2 / 4 if mode == "side-by-side" else 2 / 100)
    assert controls.repeated_pairs == (9 if mode == "side-by-side" else 3)
    assert controls.repeated_difference == 0


def test_one_who_does_not_see_damage_fails(tmp_path):
    study = make_study("direct", repeats=3, degraded=8)
    degraded = iter([70, 70, 70, 70, 50, 50, 50, 60])
    ratings = ratings_of(study, tmp_path, lambda item, _: next(degraded) if item.kind == "degraded" else 60)
    controls = check_controls(ratings, key_of(study, tmp_path))
    # Of the differences −10 four times, 10 three times and 0, the sum −10 or more has p = P(at least 3 of 7 heads).
    assert controls.degraded_p == pytest.approx(99 / 128)
    assert controls.failures == ("degraded translations are not rated below their originals (p = 0.773, 8 pairs)",)


@pytest.mark.parametrize(("second", "fails"), [(75, False), (76, True), (24, True), (25, False)])
def test_repeated_items_may_differ_by_a_quarter_of_the_scale(second, fails, tmp_path):
    study = make_study("direct", repeats=4, degraded=5)
    given = {"system": 50, "repeat": second, "degraded": 10}
    controls = check_controls(ratings_of(study, tmp_path, lambda item, _: given[item.kind]), key_of(study, tmp_path))
    assert controls.repeated_difference == pytest.approx(abs(second - 50) / 100)
    assert ("differ by 26% of the scale on average, more than 25%" in " ".join(controls.failures)) == fails


def test_too_few_controls_are_not_judged(tmp_path):
    study = make_study("direct", repeats=0, degraded=4)
    controls = check_controls(ratings_of(study, tmp_path, lambda item, _: 50), key_of(study, tmp_path))
    assert controls.failures == ()
    assert controls.degraded_p is None
    assert controls.remarks == (
        "4 degraded items with both ratings: 5 are needed for a test",
        "no repeated item has both ratings",
    )


def test_unrated_controls_are_no_pairs(tmp_path):
    study = make_study(repeats=1, degraded=6)
    gone = next(item for screen in study.screens for item in screen.items if item.kind == "degraded")

    def rate(item, scale):
        return None if item == gone and scale.name == "fluency" else ATTENTIVE[item.kind]

    assert check_controls(ratings_of(study, tmp_path, rate), key_of(study, tmp_path)).degraded_pairs == 5
