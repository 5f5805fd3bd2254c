"""recurrent-mt rate and ratings: what they write, and what they refuse to write over."""

import json
import re

import pytest

from tests.commands import call
from tests.ratings.test_ratings import DIRECT
from tests.ratings.test_sampling import make_corpus


@pytest.fixture
def rate(tmp_path):
    """A call of recurrent-mt rate on two systems."""
    corpus = make_corpus(2)
    for name, lines in {"source": corpus.source, **corpus.systems}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    systems = [f"--system={name}={tmp_path / name}" for name in corpus.systems]
    return lambda *options: call("rate", "--source", tmp_path / "source", *systems, *options)


def test_a_campaign_has_the_name_of_its_file(rate, tmp_path):
    out = tmp_path / "mine.json"
    done = rate("--out", out, "--annotators", 3)
    assert done.stdout == (f"{out}: for each of 3 annotators, 20 screens with 40 translations\n")
    campaign = json.loads(out.read_text(encoding="utf-8"))
    assert re.fullmatch("mine-[0-9a-f]{8}", campaign["campaign_id"])
    assert [len(task) for task in campaign["data"]] == [20] * 3


def test_nobody_rates_nothing(rate, tmp_path):
    assert "'0' is not a whole number above zero" in rate("--out", tmp_path / "mine.json", "--annotators", 0).stderr


def test_texts_are_not_overwritten_by_a_campaign(rate, tmp_path):
    text = (tmp_path / "source").read_bytes()
    refused = rate("--out", tmp_path / "source")
    assert refused.stderr == f"error: {tmp_path}/source would be overwritten: choose another --out\n"
    assert (tmp_path / "source").read_bytes() == text


def test_ratings_are_not_overwritten_by_what_they_say(tmp_path):
    file = tmp_path / "anna.json"
    file.write_bytes(DIRECT.read_bytes())
    refused = call("ratings", file, "--out", tmp_path / "anna")
    assert refused.stderr == f"error: {file} would be overwritten: choose another --out\n"
    assert file.read_bytes() == DIRECT.read_bytes()
    done = call("ratings", file, "--out", tmp_path / "scores")
    assert done.stdout == (tmp_path / "scores.txt").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["campaign"] == "direct"
