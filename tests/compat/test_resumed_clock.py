"""The clock of a training that goes on in the middle of an epoch goes on, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairseq.logging import metrics

from tests.models.building import build
from tests.training import ADAM, trainer


@pytest.mark.parametrize("updates", [0, 3], ids=["between epochs", "in an epoch"])
def test_loading_a_checkpoint_does_not_stop_the_clock(tmp_path: Path, updates: int):
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM, save_dir=str(tmp_path))
    training.consolidate_optimizer()
    path = str(tmp_path / "checkpoint_last.pt")
    state = {"train_iterator": {"version": 2, "epoch": 1, "iterations_in_epoch": updates}}
    training.save_checkpoint(path, state)
    started = metrics.get_meter("default", "wall").start_time
    training.load_checkpoint(path)
    assert started is not None and metrics.get_meter("default", "wall").start_time == started
