"""The best model of every validation is saved, whether or not other checkpoints are, and the log says which it is."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import fairseq_cli.train
import pytest
import torch
from fairseq import checkpoint_utils

from tests.models.building import build
from tests.training import ADAM, trainer


def test_a_stock_training_saves_the_best_model_between_epochs(tmp_path: Path, train):
    save = tmp_path / "checkpoints"
    # It diverges, so that a validation before the last, where the training stops and saves, is the best.
    options = ("--validate-interval-updates", 1, "--lr", 1, "--max-update", 4, "--log-format", "json")
    log = train("lstm", save, *options, "--no-epoch-checkpoints", warm=True)
    losses = [float(loss) for loss in re.findall(r'"valid_loss": "([\d.]+)"', log)]
    best = [float(loss) for loss in re.findall(r'"valid_best_loss": "([\d.]+)"', log)]
    assert len(losses) == 4 and losses[1] == min(losses)
    assert best == [losses[1]] * 3, "the first validation has no other to compare with"
    saved = torch.load(save / "checkpoint_best.pt")
    assert saved["optimizer_history"][-1]["num_updates"] == 2
    assert round(saved["extra_state"]["val_loss"], 3) == losses[1]


@pytest.fixture
def validate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Validates a training between two updates, with these losses, and returns what it has left in its folder."""
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM, save_dir=str(tmp_path))
    training.cfg.dataset.validate_interval_updates = 1
    epoch = SimpleNamespace(epoch=1, end_of_epoch=lambda: False, state_dict=lambda: {"epoch": 1})
    monkeypatch.setattr(training, "get_num_updates", lambda: updates)
    updates = 0
    checkpoint_utils.save_checkpoint.__dict__.pop("best", None)

    def run(*losses: float, end_of_epoch: bool = False, **options: object) -> dict[str, float]:
        nonlocal updates
        for name, value in options.items():
            setattr(training.cfg.checkpoint, name, value)
        epoch.end_of_epoch = lambda: end_of_epoch
        for loss in losses:
            updates += 1
            monkeypatch.setattr(fairseq_cli.train, "validate", lambda *_, loss=loss: [loss])
            fairseq_cli.train.validate_and_save(training.cfg, training, None, epoch, ["valid"], end_of_epoch)
        return {path.name: torch.load(path)["extra_state"]["val_loss"] for path in tmp_path.glob("*.pt")}

    yield run
    checkpoint_utils.save_checkpoint.__dict__.pop("best", None)


def test_the_best_of_the_validations_between_epochs_is_on_the_disk(validate):
    assert validate(5.0)["checkpoint_best.pt"] == 5.0
    assert validate(4.0, 4.5, float("nan"), 6.0)["checkpoint_best.pt"] == 4.0
    assert checkpoint_utils.save_checkpoint.best == 4.0, "what fairseq prints as the best"


def test_the_greatest_value_is_the_best_where_that_is_asked_for(validate):
    assert validate(20.0, 30.0, 25.0, maximize_best_checkpoint_metric=True)["checkpoint_best.pt"] == 30.0


def test_the_best_of_an_epoch_between_those_that_are_saved_is_on_the_disk(validate):
    assert validate(5.0, 4.0, 4.5, end_of_epoch=True, save_interval=10)["checkpoint_best.pt"] == 4.0


def test_a_value_that_is_no_number_hides_no_better_one(validate):
    assert validate(float("nan"), 4.0)["checkpoint_best.pt"] == 4.0


def test_nothing_is_saved_twice(validate, monkeypatch):
    saved = []
    save = checkpoint_utils.torch_persistent_save
    monkeypatch.setattr(checkpoint_utils, "torch_persistent_save", lambda *args, **_: saved.append(args) or save(*args))
    validate(5.0, 4.0, save_interval_updates=1)
    assert len(saved) == 2


def test_nothing_is_saved_where_nothing_is_to_be_saved(validate):
    assert validate(5.0, 4.0, no_save=True) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--eval-bleu", "--best-checkpoint-metric", "bleu"], "bleu needs --maximize-best-checkpoint-metric"),
        (["--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"], "bleu needs --eval-bleu"),
        (
            ["--criterion", "label_smoothed_cross_entropy", "--best-checkpoint-metric", "accuracy"],
            "accuracy needs --report-accuracy",
        ),
        (["--maximize-best-checkpoint-metric"], "loss is best where it is lowest: leave --maximize"),
    ],
)
def test_a_metric_that_will_not_come_and_the_worst_model_as_the_best_are_refused(options, message, tmp_path, train):
    with pytest.raises(AssertionError, match=message):
        train("lstm", tmp_path, *options, warm=True)


def test_an_epoch_without_its_metric_is_saved(tmp_path, train):
    options = ("--validate-interval-updates", 2, "--max-update", 3)
    message = "metric los: validation reports no los, but loss, ppl, wps, wpb, bsz. What was trained is saved"
    with pytest.raises(AssertionError, match=message):
        train("lstm", tmp_path, *options, "--best-checkpoint-metric", "los", warm=True)
    assert torch.load(tmp_path / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] == 2
    log = train("lstm", tmp_path, *options, "--best-checkpoint-metric", "ppl", warm=True)
    assert "checkpoint_last.pt (epoch 1 @ 2 updates)" in log
    assert torch.load(tmp_path / "checkpoint_best.pt")["optimizer_history"][-1]["num_updates"] == 3
