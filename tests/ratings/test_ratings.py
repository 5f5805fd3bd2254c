"""Annotations as Pearmut 1.1.6 writes them.

`side-by-side.json` and `direct.json` were downloaded from its dashboard, after two campaigns of `recurrent-mt rate` had
been rated in a browser by rule. The sentences are those of `recurrent-mt synthetic-corpus`; the systems are references,
references without their middle word (but two), and references from the last word to the first.
"""

import copy
import json
from pathlib import Path

import pytest

from recurrent_mt.ratings.ratings import Item, read_all_ratings, read_ratings
from recurrent_mt.text_files import FileError

FOLDER = Path(__file__).parent
SIDE_BY_SIDE, DIRECT = FOLDER / "side-by-side.json", FOLDER / "direct.json"
#: Adequacy and fluency by the first annotator.
DESERVED = {("good",): 5, ("good", "fair"): 5, ("fair",): 4, ("poor",): 2}


def write(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_download_of_sliders():
    campaign, (anna, ben) = read_ratings(SIDE_BY_SIDE)
    assert (campaign, anna.annotator, ben.annotator) == ("side", "anna", "ben")
    assert list(anna.values) == list(ben.values) == ["adequacy", "fluency"]
    for item, value in anna.values["adequacy"].items():
        assert value == anna.values["fluency"][item] == DESERVED[item.systems]
    # What the second did at first was reset, on the dashboard.
    assert set(ben.values["adequacy"].values()) == {4}
    assert set(ben.values["fluency"]) == set(anna.values["adequacy"])
    # This campaign of an earlier version has translations that were made worse, and others beside them, too.
    assert len(anna.values["adequacy"]) == 16


def test_a_download_of_direct_assessment():
    campaign, (anna, ben) = read_ratings(DIRECT)
    assert (campaign, list(anna.values), len(anna.values["assessment"])) == ("direct", ["assessment"], 9)
    # The first screen was rated twice, and the second rating counts.
    first = Item("3", ("poor",))
    assert (anna.values["assessment"][first], ben.values["assessment"][first]) == (20, 10)


def test_what_is_not_rated_is_left_out(tmp_path):
    data = json.loads(SIDE_BY_SIDE.read_bytes())
    (answers,) = data["side"][0]["annotation"]
    next(iter(answers.values()))["sliders"]["fluency"] = None
    _, (anna, _) = read_ratings(write(tmp_path / "a.json", data))
    assert (len(anna.values["adequacy"]), len(anna.values["fluency"])) == (16, 15)


def change_slider(data):
    next(iter(data["side"][3]["annotation"][0].values()))["sliders"]["adequacy"] = 6


def forget_whose_they_are(data):
    del data["side"][3]["item"][0]["rated"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            change_slider,
            r"a\.json, side\.3\.annotation\.0\..*\.sliders\.adequacy: Input should be less than",
        ),
        (forget_whose_they_are, r"a\.json, side\.3\.item\.0\.rated: Field required"),
        (lambda data: data["side"][3].update(annotation=None), r"side\.3\.annotation: Input should be a valid array"),
        (lambda data: data["side"][3].update(annotation=[{}]), r"a\.json: answers of 'anna' are not about the trans"),
        (lambda data: data["side"][3].update(item=[]), r"a\.json: answers of 'anna' are not about the translations"),
        (lambda data: data.update(other=[]), r"a\.json: it has 2 campaigns: download from the dashboard of one"),
        (lambda data: data["side"].clear(), r"a\.json: nobody has rated anything"),
    ],
)
def test_another_kind_of_file(change, message, tmp_path):
    data = json.loads(SIDE_BY_SIDE.read_bytes())
    change(data)
    with pytest.raises(FileError, match=message):
        read_ratings(write(tmp_path / "a.json", data))


def test_half_a_file(tmp_path):
    (tmp_path / "a.json").write_bytes(SIDE_BY_SIDE.read_bytes()[:500])
    with pytest.raises(FileError, match=r"a\.json: Invalid JSON: .* at line \d+ column \d+"):
        read_ratings(tmp_path / "a.json")


def test_several_files_are_one_campaigns_and_different_annotators(tmp_path):
    data = json.loads(SIDE_BY_SIDE.read_bytes())
    renamed = copy.deepcopy(data)
    for entry in renamed["side"]:
        entry["user_id"] += "-2"
    campaign, found = read_all_ratings([SIDE_BY_SIDE, write(tmp_path / "b.json", renamed)])
    assert (campaign, [one.annotator for one in found]) == ("side", ["anna", "ben", "anna-2", "ben-2"])
    with pytest.raises(FileError, match=r"a\.json: 'anna' is in .*side-by-side\.json, too: leave one out"):
        read_all_ratings([SIDE_BY_SIDE, write(tmp_path / "a.json", data)])
    with pytest.raises(FileError, match=r"direct\.json: it is of the campaign 'direct', but .*json of 'side'"):
        read_all_ratings([SIDE_BY_SIDE, DIRECT])
