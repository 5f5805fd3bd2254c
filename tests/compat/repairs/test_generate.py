"""Commands that use a model: shards, criterions, and options of models."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

import fairseq_cli.eval_lm
import fairseq_cli.generate
import fairseq_cli.interactive
import fairseq_cli.validate
import pytest

from tests.cli import toy

from .commands import generate, validate

SHARDS = ("--batch-size", 3, "--required-batch-size-multiple", 1, "--num-shards")


def test_shards_are_parts_of_the_whole(data: Path, trained: Path, tmp_path: Path):
    generate(data, trained, *SHARDS, 1, "--results-path", tmp_path)
    whole = toy.lines((tmp_path / "generate-test.txt").read_text(), "H")
    assert len(whole) == 20
    parts = []
    for shard in range(2):
        assert generate(data, trained, *SHARDS, 2, "--shard-id", shard, "--results-path", tmp_path) == ""
        parts.append(toy.lines((tmp_path / f"shard{shard}" / "generate-test.txt").read_text(), "H"))
    # Seven batches, the last of two sentences.
    assert sorted(map(len, parts)) == [9, 11]
    assert {number: line for part in parts for number, line in part.items()} == whole


@pytest.fixture
def losses(data: Path, trained: Path, logged):
    """What fairseq-validate logs of the validation set."""

    def run(*flags: object) -> dict[str, float]:
        validate(data, trained, "--max-tokens", 600, *flags)
        last = logged().rpartition("valid on")[2]
        return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)(?=\s)", last)}

    return run


def test_a_criterion_that_is_asked_for_takes_the_place_of_the_models(losses):
    plain = losses()
    smoothed = ("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.5)
    asked = losses(*smoothed, "--report-accuracy")
    assert "accuracy" not in plain and 0 <= asked["accuracy"] <= 100
    assert asked["nll_loss"] == pytest.approx(plain["loss"], abs=2e-3)
    assert abs(asked["loss"] - asked["nll_loss"]) > 0.01
    unsmoothed = losses("--criterion", "chunked_cross_entropy", "--label-smoothing", 0)
    assert unsmoothed["loss"] == pytest.approx(plain["loss"], abs=2e-3), "averaged over words as the model's is"


@pytest.mark.parametrize("command", ["eval_lm", "generate", "interactive", "validate"])
def test_a_misspelled_option_of_a_model_is_refused(command: str, trained: Path):
    overrides = Namespace(path=str(trained), model_overrides="{'autocst': 'none'}")
    message = f"--model-overrides: {trained} has no option 'autocst', but 'autocast'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        getattr(fairseq_cli, command).main(Namespace(common_eval=overrides))


def test_an_ensemble_is_asked_for_what_one_of_its_models_has(data: Path, trained: Path):
    with pytest.raises(ValueError, match=rf"--model-overrides: {trained}:{trained} has no option 'nowhere'$"):
        generate(data, f"{trained}:{trained}", "--model-overrides", "{'nowhere': 1}")
