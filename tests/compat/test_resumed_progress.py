"""A training that goes on knows how far it is: its clock and its updates go on, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fairseq.logging import metrics
from fairseq.trainer import Trainer

from tests.models.building import build
from tests.training import ADAM, trainer
from user_dir.checkpoints.averaging import average_checkpoints

WARM_UP = (*ADAM, "--lr-scheduler", "inverse_sqrt", "--warmup-updates", "10")


def new(folder: Path, *flags: str) -> Trainer:
    training = trainer(build("gru_encoder"), "cross_entropy", *flags, save_dir=str(folder))
    training.consolidate_optimizer()
    return training


def save(training: Trainer, *, seen: int = 0) -> str:
    """The last checkpoint, when a number of batches of an epoch have been seen."""
    path = str(Path(training.cfg.checkpoint.save_dir, "checkpoint_last.pt"))
    training.save_checkpoint(path, {"train_iterator": {"version": 2, "epoch": 2, "iterations_in_epoch": seen}})
    return path


@pytest.mark.parametrize("updates", [0, 3], ids=["between epochs", "in an epoch"])
def test_loading_a_checkpoint_does_not_stop_the_clock(tmp_path: Path, updates: int):
    training = new(tmp_path, *ADAM)
    path = save(training, seen=updates)
    started = metrics.get_meter("default", "wall").start_time
    training.load_checkpoint(path)
    assert started is not None and metrics.get_meter("default", "wall").start_time == started


def save_without_optimizer(folder: Path, *flags: str) -> tuple[str, float]:
    """The last checkpoint of 40 updates, and the rate after them."""
    training = new(folder, *flags, "--no-save-optimizer-state")
    training.set_num_updates(40)
    return save(training), training.get_lr()


def test_updates_and_schedule_go_on_without_a_state_of_the_optimizer(tmp_path, caplog):
    path, rate = save_without_optimizer(tmp_path, *WARM_UP)
    resumed = new(tmp_path, *WARM_UP)
    resumed.load_checkpoint(path)
    assert resumed.get_num_updates() == 40
    # Of 10 updates, the last of warm-up, it is 0.01, and it falls with the root of their number.
    assert resumed.get_lr() == rate == pytest.approx(0.005)
    assert f"{path} has no state of the optimizer: a new one goes on after update 40" in caplog.text


def test_a_rate_that_was_shrunk_stays_so_without_a_state_of_the_optimizer(tmp_path):
    plateau = (*ADAM, "--lr-scheduler", "reduce_lr_on_plateau", "--lr-shrink", "0.5")
    training = new(tmp_path, *plateau, "--no-save-optimizer-state")
    training.set_num_updates(40)
    for loss in (4.0, 5.0):
        training.lr_step(1, loss)
    resumed = new(tmp_path, *plateau)
    resumed.load_checkpoint(save(training, seen=3))
    assert resumed.get_lr() == training.get_lr() == 0.005


@pytest.mark.parametrize("reset", ["reset_optimizer", "reset_lr_scheduler"])
def test_what_is_to_be_reset_is_reset_without_a_state_of_the_optimizer(tmp_path, reset):
    path, _ = save_without_optimizer(tmp_path, *WARM_UP)
    resumed = new(tmp_path, *WARM_UP)
    resumed.load_checkpoint(path, **{reset: True})
    assert resumed.get_num_updates() == (0 if reset == "reset_optimizer" else 40)


def test_an_average_is_no_training_that_could_go_on(tmp_path):
    training = new(tmp_path, *ADAM)
    training.set_num_updates(40)
    path = save(training)
    average_checkpoints([Path(path), Path(path)], Path(path))
    with pytest.raises(ValueError, match=f"^{re.escape(path)} holds a model, such as an average, and no training"):
        new(tmp_path, *ADAM).load_checkpoint(path)
    elsewhere = new(tmp_path / "other", *ADAM)
    assert elsewhere.load_checkpoint(path) is not None, "a new training may begin with it"
