import json

import pytest

from recurrent_mt.ratings.ratings import read_all_ratings, read_key, read_ratings
from recurrent_mt.text_files import BYTE_ORDER_MARK, FileError
from tests.ratings.studies import bare_key, export, key_of, make_study, write


def middle(item, scale):
    return (scale.low + scale.high) // 2


@pytest.fixture(scope="module")
def study():
    return make_study(sentences=4, repeats=1, degraded=1)


@pytest.fixture
def key(study, tmp_path):
    return key_of(study, tmp_path)


def refuse(tmp_path, data, key, message, **options):
    path = write(tmp_path / "file.json", data)
    with pytest.raises(FileError, match=message) as caught:
        read_ratings(path, key, **options)
    assert str(caught.value).startswith(str(path))


def test_a_whole_file(study, key, tmp_path):
    ratings = read_ratings(write(tmp_path / "a.json", export(study, middle, " Ann ")), key)
    assert ratings.annotator == "Ann"
    assert ratings.values == {name: dict.fromkeys(key.items, 3) for name in ("adequacy", "fluency")}
    assert ratings.unrated == ()
    assert ratings.seconds["2.A"] == 3.0


def test_a_file_that_an_editor_saved_with_a_byte_order_mark(study, key, tmp_path):
    path = write(tmp_path / "a.json", export(study, middle))
    before = read_ratings(path, key)
    path.write_bytes(BYTE_ORDER_MARK + path.read_bytes())
    assert read_ratings(path, key) == before


def test_unrated_items_are_refused_unless_allowed(study, key, tmp_path):
    data = export(study, middle)
    data["ratings"][1]["fluency"] = None
    data["ratings"][4] |= {"adequacy": None, "fluency": None}
    refuse(tmp_path, data, key, r"2 of 18 items are unrated, the first is 1\.B: .*--allow-unrated")
    ratings = read_ratings(write(tmp_path / "a.json", data), key, allow_unrated=True)
    assert ratings.unrated == ("1.B", "2.B")
    assert ratings.values["adequacy"]["1.B"] == 3
    assert "1.B" not in ratings.values["fluency"]
    assert "2.B" not in ratings.values["adequacy"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(("adequacy", value) for value in (0, 6, 2.5, "3", True, [3], -1)),
        *(("screen_seconds", value) for value in (-1, None, "4", True, float("nan"), 10**400, [])),
        *(("rated_at", value) for value in (7, ["2026"], {})),
        ("item", ["1.A"]),
    ],
)
def test_a_value_that_a_page_does_not_export(study, key, tmp_path, place, value):
    data = export(study, middle)
    data["ratings"][3][place] = value
    refuse(tmp_path, data, key, rf"file\.json, ratings\.3\.{place}: Input should be ", allow_unrated=True)


def test_a_missing_value(study, key, tmp_path):
    data = export(study, middle)
    del data["ratings"][3]["fluency"]
    refuse(tmp_path, data, key, r"ratings\.3\.fluency: Field required", allow_unrated=True)


def test_items_are_those_of_the_page(study, key, tmp_path):
    data = export(study, middle)
    data["ratings"].append(data["ratings"][3])
    refuse(tmp_path, data, key, "an item is there twice")
    del data["ratings"][-1], data["ratings"][3], data["ratings"][7]
    refuse(tmp_path, data, key, r"2 items are missing or not on the page, the first is '2\.A'", allow_unrated=True)
    data = export(study, middle)
    data["ratings"][0]["item"] = "99.A"
    refuse(tmp_path, data, key, "2 items are missing or not on the page")


def test_another_page(study, key, tmp_path):
    other = make_study(sentences=4, repeats=1, degraded=1, seed=2)
    page = other.page_data()["page"]
    refuse(tmp_path, export(other, middle), key, f"made with page '{page}', but the key is of page '{key.page}'")


@pytest.mark.parametrize("name", ["", "  ", "Ann\nBea", "Ann\x1b[31m", "Ann\u2028Bea", "\0"])
def test_a_name_that_cannot_be_shown(study, key, tmp_path, name):
    refuse(tmp_path, export(study, middle, name), key, "the annotator's name is ")


@pytest.mark.parametrize(
    "name", ["田中\u3000太郎", "علی\u200cرضا", "\u200fרוני", "Zoé\xa0B.", "👩\u200d🔬", "\U0010fffd"]
)
def test_a_name_in_any_script(study, key, tmp_path, name):
    assert read_ratings(write(tmp_path / "a.json", export(study, middle, name)), key).annotator == name


def test_another_kind_of_file(study, key, tmp_path):
    for content in ([], 3, {}, study.key(), export(study, middle) | {"ratings": None}):
        refuse(tmp_path, content, key, r"file\.json.*: (Input should be |Field required)")
    path = tmp_path / "file.json"
    for damaged in (
        json.dumps(export(study, middle), indent=1)[:500].encode(),
        '{"annotator": "Zoé"}'.encode("latin-1"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"file\.json: Invalid JSON: .* at line \d+ column \d+"):
            read_ratings(path, key)


def test_one_annotator_twice(study, key, tmp_path):
    paths = [write(tmp_path / name, export(study, middle, "Ann")) for name in ("a.json", "b.json")]
    with pytest.raises(FileError, match=r"b\.json: annotator 'Ann' is already in .*a\.json"):
        read_all_ratings(paths, key)
    assert len(read_all_ratings(paths[:1], key)) == 1


@pytest.mark.parametrize("names", [("Ann", "ann"), ("Zoé", "ZOE\u0301")])
def test_names_that_differ_in_case_alone_are_one_annotators(study, key, tmp_path, names):
    paths = [write(tmp_path / f"{i}.json", export(study, middle, name)) for i, name in enumerate(names)]
    with pytest.raises(FileError, match=rf"1\.json: annotator '{names[1]}' is already in .*0\.json as '{names[0]}': "):
        read_all_ratings(paths, key)


@pytest.mark.parametrize("shared", [1, 2, 18])
def test_ratings_of_one_person_under_two_names_are_refused(study, key, tmp_path, shared):
    """Two people agree on a millisecond once, if ever."""
    first, second = (export(study, middle, name) for name in ("Ann", "Bob"))
    for mine, theirs in zip(second["ratings"][:shared], first["ratings"]):
        mine["rated_at"] = theirs["rated_at"]
    paths = [write(tmp_path / "a.json", first), write(tmp_path / "b.json", second)]
    if shared == 1:
        assert [one.annotator for one in read_all_ratings(paths, key)] == ["Ann", "Bob"]
        return
    with pytest.raises(
        FileError, match=rf"b\.json: {shared} items were rated at the same time as in .*a\.json, .* 1\.A"
    ):
        read_all_ratings(paths, key)


def test_unrated_items_share_nothing(study, key, tmp_path):
    files = [export(study, lambda item, scale: None, name) for name in ("Ann", "Bob")]
    for entry in (*files[0]["ratings"], *files[1]["ratings"]):
        entry["rated_at"] = None
    paths = [write(tmp_path / f"{i}.json", file) for i, file in enumerate(files)]
    assert len(read_all_ratings(paths, key, allow_unrated=True)) == 2


ITEMS = {"1": (1, ["x"], "system", None), "2": (1, ["x"], "repeat", "1")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "ratings/1"}, r"bad\.json, format: Input should be 'rating-key/1'"),
        ({"mode": "ranking"}, r"bad\.json, mode: Input should be 'side-by-side' or 'direct'"),
        ({"items": {}}, r"bad\.json, items: "),
        ({"items": {"1": 3}}, r"bad\.json, items\.1: "),
        ({"items": bare_key({"1": (1, ["x"], "other", None)})["items"]}, r"items\.1\.kind: "),
        ({"items": bare_key({"1": (1, ["q"], "system", None)})["items"]}, r"bad\.json, item 1: unknown system 'q'"),
        ({"items": bare_key({"1": (1, ["x"], "repeat", "9")})["items"]}, "item 1: its original '9' is not"),
        ({"items": bare_key({"1": (1, ["x"], "repeat", "1")})["items"]}, "item 1: its original '1' is not"),
    ],
)
def test_bad_keys(tmp_path, change, message):
    assert set(read_key(write(tmp_path / "good.json", bare_key(ITEMS))).items) == {"1", "2"}
    with pytest.raises(FileError, match=message):
        read_key(write(tmp_path / "bad.json", bare_key(ITEMS) | change))
