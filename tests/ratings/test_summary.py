import json

import pytest

from recurrent_mt.ratings.summary import as_json, as_text, evaluate_ratings
from tests.ratings.studies import key_of, make_study, ratings_of

QUALITY = {"x": 80, "y": 60, "z": 40}


def attentive(item, scale):
    return QUALITY[item.systems[0]] - (40 if item.kind == "degraded" else 0)


def careless(item, scale):
    return 100 if item.kind == "degraded" else 10 * (item.systems[0] == "z")


@pytest.fixture
def files(tmp_path):
    study = make_study("direct", repeats=5, degraded=8)
    annotators = [ratings_of(study, tmp_path, attentive, "Ann"), ratings_of(study, tmp_path, careless, "Bob")]
    return annotators, key_of(study, tmp_path)


def test_those_who_fail_are_named_and_scored(files):
    outcome = evaluate_ratings(*files)
    text = as_text(outcome)
    assert (
        "Bob fails the controls: degraded translations are not rated below their originals (p = 1.000, 8 pairs)" in text
    )
    assert "--exclude-failing leaves them out" in text
    assert "Ann fails" not in text
    assert outcome.excluded == ()


def test_those_who_fail_are_excluded_on_request(files):
    annotators, key = files
    outcome = evaluate_ratings(annotators, key, exclude_failing=True)
    assert outcome.excluded == ("Bob",)
    assert "Left out of what follows: Bob" in as_text(outcome)
    assert outcome.scales == evaluate_ratings(annotators[:1], key).scales
    with pytest.raises(ValueError, match="no annotators left"):
        evaluate_ratings(annotators[1:], key, exclude_failing=True)


def test_the_table(files):
    annotators, key = files
    lines = as_text(evaluate_ratings(annotators[:1], key)).splitlines()
    start = lines.index("Assessment")
    systems = [line.split() for line in lines[start + 3 : start + 6]]
    # All sentences alike: z of 80, 60, 40 with n − 1 over 36 ratings, and intervals of no width.
    assert [row[0] for row in systems] == ["x", "y", "z"]
    assert systems[0][1:5] == ["+1.208", "+1.208", "to", "+1.208"]
    assert systems[1][5:] == ["60.00", "12"]
    assert "Alpha (interval): none, no item was rated by two annotators" in lines
    passed = lines[3].split()
    assert passed[:3] == ["Ann", "0", "37.5"], "screens 1 to 49, 1.5 seconds each more than the one before"
    assert passed[-1] == "passed"
    assert "0.004" in passed


def test_json_holds_everything(files):
    outcome = evaluate_ratings(*files)
    data = json.loads(as_json(outcome), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["scales"][0]["systems"][0]["z"] == outcome.scales[0].systems[0].z
    assert data["controls"][1]["failures"]
    assert set(data["files"]) == {"Ann", "Bob"}
