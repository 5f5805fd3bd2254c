"""fairseq-train: what it refuses, when it stops, and which models it keeps."""

from __future__ import annotations

import logging
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import fairseq_cli.train
import pytest
import torch
from fairseq import checkpoint_utils

from fairseq_compat.repairs.train import ending_on_request
from tests import commands
from tests.cli import toy
from tests.models.building import build
from tests.training import ADAM, trainer

from .commands import generate, preprocess, train


@pytest.fixture(scope="module")
def long_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Binarized data whose validation and test sets have a line of 70 tokens, the third."""
    folder = tmp_path_factory.mktemp("long")
    toy.write_corpus(folder, train=100)
    for file in ("valid.src", "test.src"):
        lines = (folder / file).read_text().splitlines()
        (folder / file).write_text("\n".join([*lines[:2], "w1 " * 69, *lines[3:]]) + "\n")
    preprocess(folder, folder / "data")
    return folder / "data"


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


@pytest.mark.parametrize(
    ("losses", "options", "best"),
    [
        ((5.0, 4.0, 4.5, float("nan"), 6.0), {}, 4.0),
        ((float("nan"), 4.0), {}, 4.0),
        ((20.0, 30.0, 25.0), {"maximize_best_checkpoint_metric": True}, 30.0),
        ((5.0, 4.0, 4.5), {"end_of_epoch": True, "save_interval": 10}, 4.0),
    ],
    ids=["least", "after no number", "greatest", "between epochs that are saved"],
)
def test_the_best_of_the_validations_is_on_the_disk(losses, options, best, validate):
    assert validate(*losses, **options)["checkpoint_best.pt"] == best
    assert checkpoint_utils.save_checkpoint.best == best, "what fairseq prints as the best"


def test_nothing_is_saved_twice_or_where_nothing_is_to_be_saved(validate, monkeypatch):
    saved = []
    save = checkpoint_utils.torch_persistent_save
    monkeypatch.setattr(checkpoint_utils, "torch_persistent_save", lambda *args, **_: saved.append(args) or save(*args))
    validate(5.0, 4.0, save_interval_updates=1)
    assert len(saved) == 2
    validate(3.0, no_save=True)
    assert len(saved) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--eval-bleu", "--best-checkpoint-metric", "bleu"], "bleu needs --maximize-best-checkpoint-metric"),
        (["--maximize-best-checkpoint-metric"], "loss is best where it is lowest: leave --maximize"),
    ],
)
def test_the_worst_model_as_the_best_is_refused(options, message, data, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(data, tmp_path, *options)


class Deleted:
    """An object that is being deleted when the signal comes: Python ignores what is raised there."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def fail_on_the_way_out() -> None:
    """As PyTorch does where the signal comes while a checkpoint is written."""
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        raise RuntimeError("unexpected pos")


def load_data() -> None:
    """With a process of its own, which waits."""
    commands.fork.Process(target=time.sleep, args=(600,)).start()
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("train", [Deleted, fail_on_the_way_out, load_data])
def test_a_terminated_training_exits_as_a_shell_reports_it_and_the_log_says_how_it_continues(train, tmp_path):
    def run() -> None:
        logging.basicConfig(filename=tmp_path / "log", level=logging.INFO, force=True)
        with ending_on_request():
            train()
            time.sleep(600)

    process = commands.fork.Process(target=run)
    process.start()
    process.join()
    assert process.exitcode == 143
    log = (tmp_path / "log").read_text()
    assert "SIGTERM: training stops here; the same command resumes from the last checkpoint, if any" in log


def test_a_programs_own_handler_is_left_where_a_training_ends_or_cannot_handle_the_signal():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(FloatingPointError), ending_on_request():
        assert signal.getsignal(signal.SIGTERM) != before
        raise FloatingPointError
    assert signal.getsignal(signal.SIGTERM) == before
    handlers = []
    # Python allows to set one in the main thread alone.
    thread = threading.Thread(target=ending_on_request()(lambda: handlers.append(signal.getsignal(signal.SIGTERM))))
    thread.start()
    thread.join()
    assert handlers == [before]


class EpochBegunError(Exception):
    """fairseq's own function began an epoch."""


class Epochs:
    """Takes the place of fairseq's iterator: training means asking it for an epoch."""

    next_epoch_idx = 1

    def next_epoch_itr(self, **_: object) -> None:
        raise EpochBegunError


def begin_epoch(updates: int, max_update: int, *, spent: float = 0, hours: float = 0, patience: int = -1) -> object:
    trainer = SimpleNamespace(get_num_updates=lambda: updates, cumulative_training_time=lambda: spent * 3600)
    config = SimpleNamespace(
        optimization=SimpleNamespace(max_update=max_update, stop_time_hours=hours),
        distributed_training=SimpleNamespace(fix_batches_to_gpus=False),
        dataset=SimpleNamespace(curriculum=0, disable_validation=True),
        checkpoint=SimpleNamespace(patience=patience),
    )
    return fairseq_cli.train.train(config, trainer, None, Epochs())


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_update": 30}, "num_updates: 30 >= max_update: 30"),
        (
            {"max_update": 0, "spent": 1.5, "hours": 1.25},
            "cumulative_training_time: 1.500000 > stop_time_hours: 1.250000 hour(s)",
        ),
        ({"max_update": 0, "patience": 3}, "validations without improvement: 3 >= patience: 3"),
    ],
    ids=["updates", "hours", "patience"],
)
def test_a_training_with_all_behind_it_begins_no_epoch(limits, said, logged, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fairseq_cli.train.should_stop_early, "num_runs", 3, raising=False)
    assert begin_epoch(30, **limits) == ([None], True)
    assert f"nothing is left to train: {said}" in logged()


@pytest.mark.parametrize(
    ("updates", "limits"),
    [
        (29, {"max_update": 30}),
        (30, {"max_update": 0, "spent": 1.5, "patience": 4}),
        (30, {"max_update": 0, "spent": 1.0, "hours": 1.25}),
        (0, {"max_update": 0, "spent": 1.5, "hours": 1.25}),
    ],
)
def test_a_training_with_something_left_begins_an_epoch(updates, limits, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fairseq_cli.train.should_stop_early, "num_runs", 3, raising=False)
    with pytest.raises(EpochBegunError):
        begin_epoch(updates, **limits)


def test_a_long_validation_line_is_named_before_the_first_update(long_data: Path, tmp_path: Path):
    for options, limit in ((("--max-tokens", 60), "60 source"), (("--max-source-positions", 50), "50 source")):
        with pytest.raises(ValueError, match=rf"valid, line 3: 70 source and .* are more than {limit}"):
            train(long_data, tmp_path, *options)
    assert not (tmp_path / "checkpoint_last.pt").exists()


def test_long_lines_are_skipped_where_that_is_asked_for(long_data: Path, tmp_path: Path, logged):
    train(long_data, tmp_path, "--max-tokens", 60, "--max-update", 1, "--skip-invalid-size-inputs-valid-test")
    log = logged()
    assert "1 samples have invalid sizes and will be skipped" in log and '"valid_loss": ' in log
    path = tmp_path / "checkpoint_last.pt"
    # A search makes a batch of a sentence that is longer than one.
    assert len(toy.lines(generate(long_data, path, "--max-tokens", 60, "--max-len-b", 9), "H")) == 20
