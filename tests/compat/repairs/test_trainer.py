"""What a training goes on with: updates, clock, schedule, and patience; and what it says where it fails."""

from __future__ import annotations

import gc
import math
import re
import weakref
from pathlib import Path

import fairseq.trainer
import fairseq_cli.train
import pytest
from fairseq.logging import metrics
from fairseq.trainer import Trainer
from torch import nn

from fairseq_compat.repairs.trainer import let_go_of_past_epochs
from user_dir.checkpoints.averaging import average_checkpoints

from .commands import new_trainer, save, train

WARM_UP = ("--lr-scheduler", "inverse_sqrt", "--warmup-updates", "10")


@pytest.mark.parametrize("updates", [0, 3], ids=["between epochs", "in an epoch"])
def test_loading_a_checkpoint_does_not_stop_the_clock(tmp_path: Path, updates: int):
    training = new_trainer(tmp_path)
    path = save(training, seen=updates)
    started = metrics.get_meter("default", "wall").start_time
    training.load_checkpoint(path)
    assert started is not None and metrics.get_meter("default", "wall").start_time == started


def save_without_optimizer(folder: Path, *flags: str) -> tuple[str, float]:
    """The last checkpoint of 40 updates, and the rate after them."""
    training = new_trainer(folder, *flags, "--no-save-optimizer-state")
    training.set_num_updates(40)
    return save(training), training.get_lr()


def test_updates_and_schedule_go_on_without_a_state_of_the_optimizer(tmp_path, caplog):
    path, rate = save_without_optimizer(tmp_path, *WARM_UP)
    resumed = new_trainer(tmp_path, *WARM_UP)
    resumed.load_checkpoint(path)
    assert resumed.get_num_updates() == 40
    # Of 10 updates, the last of warm-up, it is 0.01, and it falls with the root of their number.
    assert resumed.get_lr() == rate == pytest.approx(0.005)
    assert f"{path} has no state of the optimizer: a new one goes on after update 40" in caplog.text


def test_a_rate_that_was_shrunk_stays_so_without_a_state_of_the_optimizer(tmp_path):
    plateau = ("--lr-scheduler", "reduce_lr_on_plateau", "--lr-shrink", "0.5")
    training = new_trainer(tmp_path, *plateau, "--no-save-optimizer-state")
    training.set_num_updates(40)
    for loss in (4.0, 5.0):
        training.lr_step(1, loss)
    resumed = new_trainer(tmp_path, *plateau)
    resumed.load_checkpoint(save(training, seen=3))
    assert resumed.get_lr() == training.get_lr() == 0.005


@pytest.mark.parametrize("reset", ["reset_optimizer", "reset_lr_scheduler"])
def test_what_is_to_be_reset_is_reset_without_a_state_of_the_optimizer(tmp_path, reset):
    path, _ = save_without_optimizer(tmp_path, *WARM_UP)
    resumed = new_trainer(tmp_path, *WARM_UP)
    resumed.load_checkpoint(path, **{reset: True})
    assert resumed.get_num_updates() == (0 if reset == "reset_optimizer" else 40)


def test_an_average_is_no_training_that_could_go_on(tmp_path):
    training = new_trainer(tmp_path)
    training.set_num_updates(40)
    path = save(training)
    average_checkpoints([Path(path), Path(path)], Path(path))
    with pytest.raises(ValueError, match=f"^{re.escape(path)} holds a model, such as an average, and no training"):
        new_trainer(tmp_path).load_checkpoint(path)
    elsewhere = new_trainer(tmp_path / "other")
    assert elsewhere.load_checkpoint(path) is not None, "a new training may begin with it"


PLATEAU = ("--lr-scheduler", "reduce_lr_on_plateau", "--lr-patience", "1", "--lr-shrink", "0.5")
#: A validation better than all before, and then two worse ones again and again.
LOSSES = [5.0, 4.0, 4.5, 4.5, 4.5, 4.5, 3.0, 3.5, 3.5]
RATES = [0.01, 0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025, 0.0025, 0.00125]


def end_epoch(training: Trainer, epoch: int, loss: float) -> float:
    """What fairseq-train does at the end of an epoch: it saves, and then tells the schedule."""
    save(training, epoch=epoch + 1, val_loss=loss)
    return training.lr_step(epoch, loss)


def resume(path: str, **options: bool) -> Trainer:
    """A new process of the training that has saved."""
    training = new_trainer(Path(path).parent, *PLATEAU)
    extra_state = training.load_checkpoint(path, **options)
    training.lr_step(extra_state["train_iterator"]["epoch"])
    return training


@pytest.mark.parametrize("interrupted", [set(), {3, 4}, set(range(9))], ids=str)
def test_the_rates_are_those_of_an_uninterrupted_training(tmp_path: Path, interrupted: set[int]):
    training, rates = new_trainer(tmp_path, *PLATEAU), []
    for epoch, loss in enumerate(LOSSES, start=1):
        rate = end_epoch(training, epoch, loss)
        if epoch in interrupted:
            training = resume(str(tmp_path / "checkpoint_last.pt"))
            assert training.get_lr() == rate
        rates.append(rate)
    assert rates == pytest.approx(RATES)


def test_counts_survive_an_interruption_in_an_epoch_and_its_validation_does_not_count(tmp_path: Path):
    training = new_trainer(tmp_path, *PLATEAU)
    for epoch, loss in enumerate(LOSSES[:3], start=1):
        end_epoch(training, epoch, loss)
    training = resume(save(training, epoch=4, val_loss=9.0, seen=7))
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == 1
    assert training.lr_scheduler.lr_scheduler.best == 4.0
    assert end_epoch(training, 4, 4.5) == pytest.approx(0.005)


@pytest.mark.parametrize(("flags", "bad"), [((), 0), (("--validate-interval-updates", "5"), 1)], ids=str)
def test_a_validation_at_the_end_of_a_training_that_goes_on_counts_if_it_was_due(
    tmp_path: Path, flags: tuple[str, ...], bad: int
):
    """fairseq validates whenever a training stops."""
    interval = ("--validate-interval", "2", *flags)
    training = new_trainer(tmp_path, *PLATEAU, *interval)
    training.lr_step(2, 4.0)
    training.set_num_updates(15)
    path = save(training, epoch=4, val_loss=4.5)
    training = new_trainer(tmp_path, *PLATEAU, *interval)
    training.load_checkpoint(path)
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == bad


def test_a_schedule_that_begins_anew_knows_no_validation(tmp_path: Path):
    """--finetune-from-model resets it."""
    training = new_trainer(tmp_path, *PLATEAU)
    for epoch, loss in enumerate(LOSSES[:3], start=1):
        end_epoch(training, epoch, loss)
    training = resume(str(tmp_path / "checkpoint_last.pt"), reset_lr_scheduler=True)
    assert training.lr_scheduler.lr_scheduler.best == math.inf
    assert training.lr_scheduler.lr_scheduler.num_bad_epochs == 0


def test_a_training_stops_where_it_would_have_and_stays_stopped(data: Path, tmp_path: Path, logged):
    # It does not learn, so that no validation is better than the first.
    options = ("--lr", 0, "--patience", 2, "--validate-interval", 1, "--save-interval", 1, "--max-epoch")
    train(data, tmp_path, *options, 2)
    assert "early stop" not in logged()
    stopped = train(data, tmp_path, *options, 9)
    log = logged()
    assert "early stop since valid performance hasn't improved for last 2 runs" in log
    assert re.findall(r"end of epoch (\d+)", log) == ["3"]
    again = train(data, tmp_path, *options, 9)
    log = logged()
    assert "nothing is left to train: validations without improvement: 2 >= patience: 2" in log
    assert "end of epoch" not in log
    assert stopped["optimizer_history"] == again["optimizer_history"]
    forget()


@pytest.fixture
def training(tmp_path: Path) -> Trainer:
    new = new_trainer(tmp_path)
    new.cfg.checkpoint.patience = 3
    forget()
    yield new
    forget()


def forget() -> None:
    vars(fairseq_cli.train.should_stop_early).clear()


def stops(training: Trainer, *losses: float) -> list[bool]:
    return [fairseq_cli.train.should_stop_early(training.cfg, loss) for loss in losses]


def test_the_best_value_and_the_count_are_those_of_the_checkpoint(training, tmp_path):
    assert stops(training, 5.0, 4.0, 4.5) == [False, False, False]
    path = save(training)
    assert stops(training, 4.4, 4.3) == [False, True]
    training.load_checkpoint(path)
    assert stops(training, 4.2, 3.9, 4.1, 4.0, 3.9) == [False, False, False, False, True]


def test_a_training_that_begins_anew_begins_to_count(training, tmp_path):
    path = str(tmp_path / "checkpoint_last.pt")
    stops(training, 4.0, 4.5, 4.5)
    training.load_checkpoint(path)  # there is none: the counts are another training's of this process
    assert stops(training, 9.0, 9.0, 9.0, 9.0) == [False, False, False, True]
    training.load_checkpoint(save(training), reset_meters=True)
    assert stops(training, 9.0, 9.0, 9.0, 9.0) == [False, False, False, True]


def test_a_checkpoint_that_is_asked_for_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.pt").mkdir()
    training = new_trainer(Path("save"))
    for name in ("chekpoint_best.pt", "folder.pt", f"{tmp_path}/x.pt"):
        with pytest.raises(FileNotFoundError, match=re.escape(f"there is no checkpoint {name} in {tmp_path}: correct")):
            training.load_checkpoint(name)
    for name in ("save/checkpoint_last.pt", "./save/../save/checkpoint_last.pt"):
        assert training.load_checkpoint(name) is None, "a first call has no last checkpoint"


def test_shared_are_parameters_and_not_the_biases_that_layers_do_not_have():
    model = nn.ModuleDict({name: nn.Linear(3, 3, bias=name == "c") for name in "abc"})
    assert fairseq.trainer._catalog_shared_params(model) == []
    model["b"].weight = model["c"].weight
    model["again"] = model["a"]
    assert fairseq.trainer._catalog_shared_params(model) == [["a.weight", "again.weight"], ["b.weight", "c.weight"]]


class Epoch:
    def __init__(self):
        self.itself = self


def test_a_past_epoch_is_gone_when_the_next_begins():
    gc.disable()
    try:
        past = weakref.ref(Epoch())
        assert past() is not None
        assert let_go_of_past_epochs(lambda _: past(), None) is None
    finally:
        gc.enable()
