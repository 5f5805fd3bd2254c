"""``fairseq-validate`` computes the loss that it is asked for."""

from __future__ import annotations

import re

import pytest

from tests.cli import toy


@pytest.fixture(scope="module")
def validate(tmp_path_factory):
    trained = toy.trained(tmp_path_factory)

    def losses(*options):
        model = ("--user-dir", toy.PLUGIN, "--path", trained / "save/checkpoint_last.pt")
        done = toy.run("fairseq-validate", trained / "data", *model, "--cpu", "--max-tokens", 600, *options)
        last = done.stdout.rpartition("valid on")[2]
        return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)(?= |$)", last)}

    return losses


def test_a_criterion_that_is_asked_for_takes_the_place_of_the_models(validate):
    plain = validate()
    smoothed = ("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.5)
    asked = validate(*smoothed, "--report-accuracy")
    assert "accuracy" not in plain and 0 <= asked["accuracy"] <= 100
    assert asked["nll_loss"] == pytest.approx(plain["loss"], abs=2e-3)
    assert abs(asked["loss"] - asked["nll_loss"]) > 0.01
    assert asked["loss"] != validate(*smoothed[:3], 0.2)["loss"]


def test_the_criterion_averages_over_words_as_the_models_does(validate):
    for name in ("label_smoothed_cross_entropy", "chunked_cross_entropy"):
        asked = validate("--criterion", name, "--label-smoothing", 0)
        assert asked["loss"] == pytest.approx(asked.get("nll_loss", asked["loss"]), abs=2e-3), name
        assert asked["loss"] == pytest.approx(validate()["loss"], abs=2e-3), name
