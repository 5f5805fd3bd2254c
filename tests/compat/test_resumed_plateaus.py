"""--lr-scheduler reduce_lr_on_plateau counts bad validations as if nothing had interrupted the training."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from fairseq.trainer import Trainer

from tests.models.building import build
from tests.training import ADAM, trainer

PLATEAU = ("--lr-scheduler", "reduce_lr_on_plateau", "--lr-patience", "1", "--lr-shrink", "0.5")
#: A validation better than all before, and then two worse ones again and again.
LOSSES = [5.0, 4.0, 4.5, 4.5, 4.5, 4.5, 3.0, 3.5, 3.5]
RATES = [0.01, 0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025, 0.0025, 0.00125]


def new(save_dir: Path, *flags: str) -> Trainer:
    made = trainer(build("gru_encoder"), "cross_entropy", *ADAM, *PLATEAU, *flags, save_dir=str(save_dir))
    made.consolidate_optimizer()
    return made


def save(training: Trainer, epoch: int, loss: float | None, *, seen: int = 0) -> str:
    """What fairseq saves when a number of batches of an epoch have been seen, after a validation."""
    path = str(Path(training.cfg.checkpoint.save_dir, "checkpoint_last.pt"))
    position = {"version": 2, "epoch": epoch, "iterations_in_epoch": seen}
    training.save_checkpoint(path, {"train_iterator": position, "val_loss": loss})
    return path


def end_epoch(training: Trainer, epoch: int, loss: float) -> float:
    """What fairseq-train does at the end of an epoch: it saves, and then tells the schedule."""
    save(training, epoch + 1, loss)
    return training.lr_step(epoch, loss)


def resume(path: str, **options: bool) -> Trainer:
    """A new process of the training that has saved."""
    training = new(Path(path).parent)
    extra_state = training.load_checkpoint(path, **options)
    training.lr_step(extra_state["train_iterator"]["epoch"])
    return training


@pytest.mark.parametrize("interrupted", [{}, {1}, {3}, {5}, {3, 4}, set(range(9))], ids=str)
def test_the_rates_are_those_of_an_uninterrupted_training(tmp_path: Path, interrupted: set[int]):
    training, rates = new(tmp_path), []
    for epoch, loss in enumerate(LOSSES, start=1):
        rate = end_epoch(training, epoch, loss)
        if epoch in interrupted:
            training = resume(str(tmp_path / "checkpoint_last.pt"))
            assert training.get_lr() == rate
        rates.append(rate)
    assert rates == pytest.approx(RATES)


def test_counts_survive_an_interruption_in_an_epoch_and_its_validation_does_not_count(tmp_path: Path):
    training = new(tmp_path)
    for epoch, loss in enumerate(LOSSES[:3], start=1):
        end_epoch(training, epoch, loss)
    training = resume(save(training, 4, 9.0, seen=7))
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == 1
    assert training.lr_scheduler.lr_scheduler.best == 4.0
    assert end_epoch(training, 4, 4.5) == pytest.approx(0.005)


def test_an_epoch_without_a_validation_does_not_count(tmp_path: Path):
    training = new(tmp_path)
    end_epoch(training, 1, 4.0)
    training = resume(save(training, 3, None))
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == 0


@pytest.mark.parametrize(("flags", "bad"), [((), 0), (("--validate-interval-updates", "5"), 1)], ids=str)
def test_a_validation_at_the_end_of_a_training_that_goes_on_counts_if_it_was_due(
    tmp_path: Path, flags: tuple[str, ...], bad: int
):
    """fairseq validates whenever a training stops."""
    interval = ("--validate-interval", "2", *flags)
    training = new(tmp_path, *interval)
    training.lr_step(2, 4.0)
    training.set_num_updates(15)
    path = save(training, 4, 4.5)
    training = new(tmp_path, *interval)
    training.load_checkpoint(path)
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == bad


@pytest.mark.parametrize("reset", ["reset_optimizer", "reset_lr_scheduler"])
def test_a_schedule_that_begins_anew_knows_no_validation(tmp_path: Path, reset: str):
    """--finetune-from-model resets both."""
    training = new(tmp_path)
    for epoch, loss in enumerate(LOSSES[:3], start=1):
        end_epoch(training, epoch, loss)
    training = resume(str(tmp_path / "checkpoint_last.pt"), **{reset: True})
    assert training.lr_scheduler.lr_scheduler.best == math.inf
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == 0


def test_a_checkpoint_without_counts_begins_them(tmp_path: Path):
    training = new(tmp_path)
    for epoch, loss in enumerate(LOSSES[:3], start=1):
        end_epoch(training, epoch, loss)
    path = save(training, 4, 9.0, seen=7)
    state = torch.load(path)
    schedule = state["optimizer_history"][-1]["lr_scheduler_state"]
    assert schedule.pop("num_bad_epochs") == 1 and schedule.pop("cooldown_counter") == 0
    torch.save(state, path)
    training = resume(path)
    assert training.lr_scheduler.lr_scheduler.best == 4.0
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == 0


def test_other_schedules_are_told_nothing(tmp_path: Path):
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM, save_dir=str(tmp_path))
    training.consolidate_optimizer()
    path = save(training, 2, 4.0)
    told: list[float | None] = []
    training.lr_step = lambda epoch, value=None: told.append(value)
    training.load_checkpoint(path)
    assert told == [None]
