"""A checkpoint that was asked for and does not exist ends the training; the last one may be missing."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq import checkpoint_utils

from tests.models.building import build
from tests.training import ADAM, trainer


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Begins a training with these options of checkpoints, and returns the state that it begins with."""
    monkeypatch.chdir(tmp_path)

    def run(**options: object) -> object:
        training = trainer(build("gru_encoder"), "cross_entropy", *ADAM, save_dir="save")
        for name, value in options.items():
            setattr(training.cfg.checkpoint, name, value)
        monkeypatch.setattr(training, "get_train_iterator", lambda **_: SimpleNamespace(epoch=1, iterations_in_epoch=0))
        return checkpoint_utils.load_checkpoint(training.cfg.checkpoint, training)[0]

    return run


def test_the_file_and_its_option_are_named(load, tmp_path):
    message = (
        f"--restore-file chekpoint_best.pt: there is no such file in {tmp_path}; without that option, training "
        "continues from save/checkpoint_last.pt, or begins"
    )
    with pytest.raises(FileNotFoundError, match=f"^{re.escape(message)}$"):
        load(restore_file="chekpoint_best.pt")
    with pytest.raises(FileNotFoundError, match=re.escape(f"--restore-file {tmp_path}/x.pt: there is no such file;")):
        load(restore_file=f"{tmp_path}/x.pt")


def test_a_folder_is_no_checkpoint(load, tmp_path):
    (tmp_path / "folder.pt").mkdir()
    with pytest.raises(FileNotFoundError, match=r"--restore-file folder\.pt: there is no such file"):
        load(restore_file="folder.pt")
    with pytest.raises(FileNotFoundError, match=r"--finetune-from-model folder\.pt: there is no such file"):
        load(finetune_from_model="folder.pt")


def test_the_checkpoint_of_another_option_may_not_be_missing_either(load):
    with pytest.raises(FileNotFoundError, match=r"--continue-once first\.pt: there is no such file"):
        load(continue_once="first.pt")


@pytest.mark.parametrize("name", ["checkpoint_last.pt", "save/checkpoint_last.pt", "./save/../save/checkpoint_last.pt"])
def test_a_first_call_has_no_last_checkpoint(load, name):
    assert load(restore_file=name) is None
