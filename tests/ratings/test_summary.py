"""Scores of the two downloads, see `tests.ratings.test_ratings`."""

import json

import pytest

from recurrent_mt.ratings.ratings import read_ratings
from recurrent_mt.ratings.scores import as_json, as_text, evaluate_ratings
from tests.ratings.test_ratings import DIRECT, SIDE_BY_SIDE


def test_scores_of_sliders():
    outcome = evaluate_ratings(*read_ratings(SIDE_BY_SIDE))
    assert outcome.rated == {"anna": 16, "ben": 16}
    adequacy, fluency = outcome.scales
    # Two of six sentences of "fair" are as those of "good", whose ratings count for both.
    means = {"good": (5 + 4) / 2, "fair": ((2 * 5 + 4 * 4) / 6 + 4) / 2, "poor": (2 + 4) / 2}
    assert {one.system: one.mean for one in adequacy.systems} == pytest.approx(means)
    assert [one.system for one in fluency.systems] == ["good", "fair", "poor"]
    assert adequacy.constant == ("ben",) and fluency.constant == ()
    assert adequacy.agreement.items == 16


def test_the_table():
    lines = as_text(evaluate_ratings(*read_ratings(DIRECT))).splitlines()
    assert [line.split() for line in lines[3:5]] == [["anna", "9"], ["ben", "9"]]
    start = lines.index("Assessment")
    # 90, 60, 20 and 80, 50, 10, each thrice: 100 / 3, 10 / 3, and −110 / 3 from the mean; n − 1 = 8.
    assert [line.split() for line in lines[start + 3 : start + 6]] == [
        ["good", "+1.096", "–", "85.00", "3"],
        ["fair", "+0.110", "–", "55.00", "3"],
        ["poor", "-1.206", "–", "15.00", "3"],
    ]
    assert "Alpha (interval): 0.944 over 9 items" in lines


def test_json_holds_everything():
    outcome = evaluate_ratings(*read_ratings(SIDE_BY_SIDE))
    data = json.loads(as_json(outcome), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["scales"][0]["systems"][0]["z"] == outcome.scales[0].systems[0].z
    assert set(data["files"]) == {"anna", "ben"}
