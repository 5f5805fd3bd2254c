from itertools import product

import pytest

from recurrent_mt.ratings.controls import check_controls, compute_sign_change_p_value
from tests.ratings.studies import key_of, make_study, ratings_of

ATTENTIVE = {"system": 4, "repeat": 4, "filler": 4, "degraded": 2}


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


def test_p_value_equals_the_enumeration_of_all_signs():
    differences = [30, -12, 7, 55, 0, 18, -3, 41, 26]
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in product((1, -1), repeat=9)]
    expected = sum(total >= sum(differences) for total in sums) / len(sums)
    assert compute_sign_change_p_value(differences) == pytest.approx(expected)


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
