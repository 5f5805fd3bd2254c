"""Scores of the two downloads, see `tests.ratings.test_ratings`."""

import json

import pytest

from recurrent_mt.ratings.ratings import read_ratings
from recurrent_mt.ratings.summary import as_json, as_text, evaluate_ratings
from tests.ratings.test_ratings import DIRECT, SIDE_BY_SIDE


def test_scores_of_sliders():
    outcome = evaluate_ratings(*read_ratings(SIDE_BY_SIDE))
    assert outcome.rated == {"anna": 32, "ben": 32}
    adequacy, fluency = outcome.scales
    # Two of six sentences of "fair" are as those of "good", whose ratings count for both.
    means = {"good": (5 + 4) / 2, "fair": ((2 * 5 + 4 * 4) / 6 + 4) / 2, "poor": (2 + 4) / 2}
    assert {one.system: one.mean for one in adequacy.systems} == pytest.approx(means)
    assert [one.system for one in fluency.systems] == ["good", "fair", "poor"]
    assert adequacy.constant == ("ben",) and fluency.constant == ()
    assert adequacy.agreement.items == 16


def test_the_table():
    lines = as_text(evaluate_ratings(*read_ratings(DIRECT))).splitlines()
    assert [line.split() for line in lines[3:5]] == [
        ["anna", "14", "54%", "(5)", "0.031", "passed"],
        ["ben", "14", "44%", "(5)", "0.062", "FAILED"],
    ]
    start = lines.index("Assessment")
    # 90, 60, 20 and 80, 50, 10, each thrice: 100 / 3, 10 / 3, and −110 / 3 from the mean; n − 1 = 8.
    assert [line.split() for line in lines[start + 3 : start + 6]] == [
        ["good", "+1.096", "–", "85.00", "3"],
        ["fair", "+0.110", "–", "55.00", "3"],
        ["poor", "-1.206", "–", "15.00", "3"],
    ]
    assert "Alpha (interval): 0.944 over 9 items" in lines


def test_those_who_fail_are_named_and_scored_or_left_out_on_request():
    campaign, (anna, ben) = read_ratings(SIDE_BY_SIDE)
    outcome = evaluate_ratings(campaign, [anna, ben])
    text = as_text(outcome)
    failure = "ben fails the controls: degraded translations are not rated below their originals (p = 1.000, 6 pairs)"
    assert failure in text and "--exclude-failing leaves them out" in text
    assert "anna fails" not in text and outcome.excluded == ()
    without = evaluate_ratings(campaign, [anna, ben], exclude_failing=True)
    assert without.excluded == ("ben",) and "Left out of what follows: ben" in as_text(without)
    assert without.scales == evaluate_ratings(campaign, [anna]).scales
    with pytest.raises(ValueError, match="all annotators fail the controls: leave --exclude-failing out"):
        evaluate_ratings(campaign, [ben], exclude_failing=True)


def test_json_holds_everything():
    outcome = evaluate_ratings(*read_ratings(SIDE_BY_SIDE))
    data = json.loads(as_json(outcome), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["scales"][0]["systems"][0]["z"] == outcome.scales[0].systems[0].z
    assert data["controls"][1]["failure"]
    assert set(data["files"]) == {"anna", "ben"}
