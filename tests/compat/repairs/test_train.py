"""fairseq-train: what it refuses, when it stops, and which models it keeps."""

from __future__ import annotations

import logging
import re
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import fairseq_cli.train
import pytest
import torch
from fairseq import checkpoint_utils

from fairseq_compat.repairs.train import ending_on_request
from tests.cli import toy
from tests.models.building import build
from tests.training import ADAM, trainer

from .commands import LSTM, generate, preprocess, train
from .commands import validate as validate_model


def test_a_training_saves_the_best_model_between_epochs(data: Path, tmp_path: Path, logged):
    # It diverges, so that a validation before the last, where the training stops and saves, is the best.
    train(data, tmp_path, "--validate-interval-updates", 1, "--lr", 1, "--max-update", 4, model=LSTM)
    log = logged()
    losses = [float(loss) for loss in re.findall(r'"valid_loss": "([\d.]+)"', log)]
    best = [float(loss) for loss in re.findall(r'"valid_best_loss": "([\d.]+)"', log)]
    assert len(losses) == 4 and losses[-1] > min(losses)
    assert best == [min(losses[:count]) for count in (2, 3, 4)], "the first has no other to compare with"
    saved = torch.load(tmp_path / "checkpoint_best.pt")
    assert saved["optimizer_history"][-1]["num_updates"] == losses.index(min(losses)) + 1
    assert round(saved["extra_state"]["val_loss"], 3) == min(losses)


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
def test_a_metric_that_will_not_come_and_the_worst_model_as_the_best_are_refused(options, message, data, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(data, tmp_path, *options)


def test_an_epoch_without_its_metric_is_saved(data, tmp_path, logged):
    options = ("--validate-interval-updates", 2, "--max-update", 3, "--best-checkpoint-metric")
    message = "metric los: validation reports no los, but loss, ppl, wps, wpb, bsz. What was trained is saved"
    with pytest.raises(ValueError, match=message):
        train(data, tmp_path, *options, "los")
    assert torch.load(tmp_path / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] == 2
    train(data, tmp_path, *options, "ppl")
    assert re.search(r"Loaded checkpoint .*checkpoint_last\.pt \(epoch \d @ 2 updates\)", logged())
    assert torch.load(tmp_path / "checkpoint_best.pt")["optimizer_history"][-1]["num_updates"] == 3


class Interrupted:
    """Options of a training that gets the signal when it first looks at them."""

    def __getattr__(self, name: str) -> object:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the training went on")


def handled(*_: object) -> None:
    """A program's own response to the signal."""


@pytest.fixture(autouse=True)
def own_handler():
    before = signal.signal(signal.SIGTERM, handled)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_terminated_training_exits_as_a_shell_reports_it_and_the_log_says_how_it_continues(caplog):
    def main(_):
        signal.raise_signal(signal.SIGTERM)
        pytest.fail("the training went on")

    with caplog.at_level(logging.INFO), pytest.raises(SystemExit) as end:
        ending_on_request()(main)("options")
    assert end.value.code == 143
    assert "SIGTERM: training stops here; rerun the same command to resume from checkpoint_last.pt" in caplog.text
    assert signal.getsignal(signal.SIGTERM) is handled


def test_fairseq_train_is_repaired(caplog):
    with caplog.at_level(logging.INFO), pytest.raises(SystemExit) as end:
        fairseq_cli.train.main(Interrupted())
    assert end.value.code == 143
    assert "SIGTERM: training stops here" in caplog.text


def test_a_training_that_ends_by_itself_leaves_the_programs_own_handler():
    with ending_on_request():
        assert signal.getsignal(signal.SIGTERM) is not handled
    assert signal.getsignal(signal.SIGTERM) is handled


def test_a_failed_training_leaves_the_programs_own_handler():
    def main(_):
        raise FloatingPointError

    with pytest.raises(FloatingPointError):
        ending_on_request()(main)("options")
    assert signal.getsignal(signal.SIGTERM) is handled


def test_a_training_in_another_thread_sets_no_handler():
    """Python allows that in the main thread alone."""
    returned = []
    train = ending_on_request()(lambda: returned.append(signal.getsignal(signal.SIGTERM)))
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert returned == [handled]


class Deleted:
    """An object that is being deleted when the signal comes: Python ignores what is raised there."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_comes_while_an_object_is_deleted_is_not_lost():
    def main(_):
        Deleted()
        time.sleep(60)
        pytest.fail("the training went on")

    hook = sys.unraisablehook
    with pytest.raises(SystemExit) as end:
        ending_on_request()(main)("options")
    assert end.value.code == 143
    assert sys.unraisablehook is hook


def test_an_error_on_the_way_out_does_not_change_the_status():
    """PyTorch's, for one, where the signal comes while a checkpoint is written."""

    def main(_):
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            raise RuntimeError("unexpected pos")

    with pytest.raises(SystemExit) as end:
        ending_on_request()(main)("options")
    assert end.value.code == 143


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


@pytest.mark.parametrize("updates", [30, 31])
def test_a_training_with_its_updates_behind_it_begins_no_epoch(updates: int, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO):
        assert begin_epoch(updates, 30) == ([None], True)
    assert f"nothing is left to train: num_updates: {updates} >= max_update: 30" in caplog.text


@pytest.mark.parametrize(("updates", "max_update"), [(29, 30), (0, 30), (30, 0)])
def test_a_training_with_updates_left_begins_an_epoch(updates: int, max_update: int):
    with pytest.raises(EpochBegunError):
        begin_epoch(updates, max_update)


def test_a_training_with_its_hours_behind_it_begins_no_epoch(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO):
        assert begin_epoch(30, 0, spent=1.5, hours=1.25) == ([None], True)
    assert "cumulative_training_time: 1.500000 > stop_time_hours: 1.250000 hour(s)" in caplog.text


@pytest.mark.parametrize(("updates", "spent", "hours"), [(30, 1.0, 1.25), (30, 1.5, 0), (0, 1.5, 1.25)])
def test_a_training_with_hours_left_begins_an_epoch(updates: int, spent: float, hours: float):
    with pytest.raises(EpochBegunError):
        begin_epoch(updates, 0, spent=spent, hours=hours)


def test_a_training_with_its_patience_at_an_end_begins_no_epoch(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(fairseq_cli.train.should_stop_early, "num_runs", 3, raising=False)
    with caplog.at_level(logging.INFO):
        assert begin_epoch(30, 0, patience=3) == ([None], True)
    assert "nothing is left to train: validations without improvement: 3 >= patience: 3" in caplog.text


@pytest.mark.parametrize(("worse", "patience"), [(2, 3), (3, 4), (3, 0), (0, -1)])
def test_a_training_with_patience_left_begins_an_epoch(worse: int, patience: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fairseq_cli.train.should_stop_early, "num_runs", worse, raising=False)
    with pytest.raises(EpochBegunError):
        begin_epoch(30, 0, patience=patience)


def test_a_long_validation_line_is_named_before_the_first_update(long_data: Path, tmp_path: Path):
    for options, limit in (
        (("--max-tokens", 60), "--max-tokens 60"),
        (("--max-source-positions", 50), "the model takes (50 source, see --max-source-positions and"),
    ):
        with pytest.raises(ValueError, match=r"valid, line 3: 70 source and .* are more than") as refusal:
            train(long_data, tmp_path, *options)
        assert f"are more than {limit}" in str(refusal.value)
        assert "--skip-invalid-size-inputs-valid-test" in str(refusal.value)
    assert not (tmp_path / "checkpoint_last.pt").exists()


def test_long_lines_are_skipped_where_that_is_asked_for(long_data: Path, tmp_path: Path, logged):
    train(long_data, tmp_path, "--max-tokens", 60, "--max-update", 1, "--skip-invalid-size-inputs-valid-test")
    log = logged()
    assert "1 samples have invalid sizes and will be skipped" in log and '"valid_loss": ' in log
    path = tmp_path / "checkpoint_last.pt"
    with pytest.raises(ValueError, match="test, line 3: 70 source and "):
        validate_model(long_data, path, "--valid-subset", "test", "--max-tokens", 60)
    # A search makes a batch of a sentence that is longer than one.
    assert len(toy.lines(generate(long_data, path, "--max-tokens", 60, "--max-len-b", 9), "H")) == 20


def test_an_empty_set_is_named(data: Path, tmp_path: Path):
    for file in data.iterdir():
        (tmp_path / file.name).write_bytes(b"" if file.name == "valid.src-tgt.src.bin" else file.read_bytes())
    with pytest.raises(ValueError, match=r"valid\.src-tgt\.src\.bin has no sentences"):
        train(tmp_path, tmp_path / "save")
    limits = ("--max-source-positions", 1, "--skip-invalid-size-inputs-valid-test", "--disable-validation")
    with pytest.raises(ValueError, match="train: none of its 100 sentences can be used"):
        train(data, tmp_path / "save", *limits)


def test_an_epoch_of_which_nothing_is_left_is_over(data: Path, tmp_path: Path, logged):
    skipping = ("--max-tokens", 60, "--required-batch-size-multiple", 1, "--skip-remainder-batch")
    train(data, tmp_path, *skipping, "--max-update", 2, "--update-freq", 2)
    logged()
    train(data, tmp_path, *skipping, "--max-update", 4, "--update-freq", 3)
    log = logged()
    assert "nothing is left to train in epoch 1" in log
    assert "end of epoch 2" in log and "end of epoch 1" not in log
    message = "leaves nothing to train: an epoch has 7 batches with the last one, .* and an update takes 50 "
    with pytest.raises(ValueError, match=message):
        train(data, tmp_path / "other", *skipping, "--max-update", 2, "--update-freq", 50)
