"""What a training goes on with: clock and patience; and what it says where it fails."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import fairseq_cli.train
import pytest
from fairseq.logging import metrics
from fairseq.trainer import Trainer

from fairseq_compat.repairs.trainer import let_go_of_past_epochs

from .commands import new_trainer, save, train


@pytest.mark.parametrize("updates", [0, 3], ids=["between epochs", "in an epoch"])
def test_loading_a_checkpoint_does_not_stop_the_clock(tmp_path: Path, updates: int):
    training = new_trainer(tmp_path)
    path = save(training, seen=updates)
    started = metrics.get_meter("default", "wall").start_time
    training.load_checkpoint(path)
    assert started is not None and metrics.get_meter("default", "wall").start_time == started


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
