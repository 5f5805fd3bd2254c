"""What --patience counts is in the checkpoint: interrupted trainings go on counting, stopped ones stay stopped."""

from __future__ import annotations

import re
from pathlib import Path

import fairseq_cli.train
import pytest
import torch
from fairseq.trainer import Trainer

from tests.models.building import build
from tests.training import ADAM, trainer

#: A training that does not learn, so that no validation is better than the first.
WITHOUT_PROGRESS = ("--lr", 0, "--no-epoch-checkpoints", "--patience", 2)


def test_a_stock_training_stops_where_it_would_have_and_stays_stopped(tmp_path: Path, train):
    save = tmp_path / "checkpoints"
    log = train("lstm", save, *WITHOUT_PROGRESS, "--max-epoch", 2, warm=True)
    assert "early stop" not in log
    log = train("lstm", save, *WITHOUT_PROGRESS, "--max-epoch", 9, warm=True)
    assert "early stop since valid performance hasn't improved for last 2 runs" in log
    assert re.findall(r"end of epoch (\d+)", log) == ["3"]
    updates = torch.load(save / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"]
    log = train("lstm", save, *WITHOUT_PROGRESS, "--max-epoch", 9, warm=True)
    assert "nothing is left to train: validations without improvement: 2 >= patience: 2" in log
    assert "end of epoch" not in log
    assert torch.load(save / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] == updates


@pytest.fixture
def training(tmp_path: Path) -> Trainer:
    new = trainer(build("gru_encoder"), "cross_entropy", *ADAM, save_dir=str(tmp_path))
    new.cfg.checkpoint.patience = 3
    new.consolidate_optimizer()
    forget()
    yield new
    forget()


def forget() -> None:
    vars(fairseq_cli.train.should_stop_early).clear()


def stops(training: Trainer, *losses: float) -> list[bool]:
    return [fairseq_cli.train.should_stop_early(training.cfg, loss) for loss in losses]


def save(training: Trainer, path: Path) -> str:
    training.save_checkpoint(str(path), {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}})
    return str(path)


def test_the_best_value_and_the_count_are_those_of_the_checkpoint(training, tmp_path):
    assert stops(training, 5.0, 4.0, 4.5) == [False, False, False]
    path = save(training, tmp_path / "checkpoint_last.pt")
    assert stops(training, 4.4, 4.3) == [False, True]
    training.load_checkpoint(path)
    assert stops(training, 4.2, 3.9, 4.1, 4.0, 3.9) == [False, False, False, False, True]


@pytest.mark.parametrize("reset", ["reset_optimizer", "reset_meters"])
def test_a_training_that_begins_anew_begins_to_count(training, tmp_path, reset):
    """--finetune-from-model resets both."""
    stops(training, 4.0, 4.5, 4.5)
    path = save(training, tmp_path / "checkpoint_last.pt")
    training.load_checkpoint(path, **{reset: True})
    assert stops(training, 9.0, 9.0, 9.0, 9.0) == [False, False, False, True]


def test_a_new_training_does_not_count_what_another_of_its_process_has_left(training, tmp_path):
    stops(training, 4.0, 4.5, 4.5)
    training.load_checkpoint(str(tmp_path / "checkpoint_last.pt"))
    assert stops(training, 9.0, 9.0, 9.0, 9.0) == [False, False, False, True]


def test_a_checkpoint_without_a_count_begins_one(training, tmp_path):
    path = save(training, tmp_path / "checkpoint_last.pt")
    state = torch.load(path)
    del state["extra_state"]["early_stopping"]
    torch.save(state, path)
    stops(training, 4.0, 4.5, 4.5)
    training.load_checkpoint(path)
    assert stops(training, 9.0, 9.0, 9.0, 9.0) == [False, False, False, True]
