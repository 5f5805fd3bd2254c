"""Called again, fairseq-train goes on where it was, or has nothing to do."""

from __future__ import annotations

import copy
import logging
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import fairseq_cli.train
import pytest
import torch
from omegaconf import OmegaConf

from fairseq_compat.repairs.comparisons import training_differences
from tests.cli import toy
from tests.once import build_once
from tests.training import ADAM, configuration


class EpochBegunError(Exception):
    """fairseq's own function began an epoch."""


class Epochs:
    """Takes the place of fairseq's iterator: training means asking it for an epoch."""

    next_epoch_idx = 1

    def next_epoch_itr(self, **_: object) -> None:
        raise EpochBegunError


def train(updates: int, max_update: int, *, spent: float = 0, hours: float = 0, patience: int = -1) -> object:
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
        assert train(updates, 30) == ([None], True)
    assert f"nothing is left to train: num_updates: {updates} >= max_update: 30" in caplog.text


@pytest.mark.parametrize(("updates", "max_update"), [(29, 30), (0, 30), (30, 0)])
def test_a_training_with_updates_left_begins_an_epoch(updates: int, max_update: int):
    with pytest.raises(EpochBegunError):
        train(updates, max_update)


def test_a_training_with_its_hours_behind_it_begins_no_epoch(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO):
        assert train(30, 0, spent=1.5, hours=1.25) == ([None], True)
    assert "cumulative_training_time: 1.500000 > stop_time_hours: 1.250000 hour(s)" in caplog.text


@pytest.mark.parametrize(("updates", "spent", "hours"), [(30, 1.0, 1.25), (30, 1.5, 0), (0, 1.5, 1.25)])
def test_a_training_with_hours_left_begins_an_epoch(updates: int, spent: float, hours: float):
    with pytest.raises(EpochBegunError):
        train(updates, 0, spent=spent, hours=hours)


def test_a_training_with_its_patience_at_an_end_begins_no_epoch(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(fairseq_cli.train.should_stop_early, "num_runs", 3, raising=False)
    with caplog.at_level(logging.INFO):
        assert train(30, 0, patience=3) == ([None], True)
    assert "nothing is left to train: validations without improvement: 3 >= patience: 3" in caplog.text


@pytest.mark.parametrize(("worse", "patience"), [(2, 3), (3, 4), (3, 0), (0, -1)])
def test_a_training_with_patience_left_begins_an_epoch(worse: int, patience: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fairseq_cli.train.should_stop_early, "num_runs", worse, raising=False)
    with pytest.raises(EpochBegunError):
        train(30, 0, patience=patience)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a training of one epoch, which has ended."""

    def build(folder: Path) -> Path:
        toy.write_corpus(folder, train=100)
        toy.preprocess(folder, folder / "data")
        toy.train(folder / "data", folder / "save", "--arch", "gru_encoder", "--max-epoch", 1, "--save-interval", 1)
        return folder

    return build_once(tmp_path_factory, "ended", build)


def call_again(ended: Path, save: Path, *options: object):
    save.mkdir()
    (save / "checkpoint_last.pt").write_bytes((ended / "save" / "checkpoint_last.pt").read_bytes())
    return toy.train(ended / "data", save, "--arch", "gru_encoder", *options, check=False)


def test_a_training_with_its_epochs_behind_it_says_so(ended: Path, tmp_path: Path):
    done = call_again(ended, tmp_path / "save", "--max-epoch", 1)
    assert done.returncode == 0 and "nothing is left to train: epoch: 1 >= max_epoch: 1" in done.stdout
    more = call_again(ended, tmp_path / "more", "--max-epoch", 2, "--seed", 2)
    assert more.returncode == 0 and "nothing is left" not in more.stdout and '"epoch": 2' in more.stdout


def test_a_training_that_keeps_no_state_of_its_optimizer_ends_when_it_is_called_again(ended: Path, tmp_path: Path):
    options = ("--arch", "gru_encoder", "--max-update", 2, "--no-save-optimizer-state")
    toy.train(ended / "data", tmp_path, *options)
    again = toy.train(ended / "data", tmp_path, *options)
    assert "nothing is left to train: num_updates: 2 >= max_update: 2" in again.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-epoch", 1, "--seed", 2), "--seed was 1 and is 2"),
        (("--max-epoch", 1, "--lr", 0.5), "--lr was [0.01] and is [0.5]"),
        (("--max-update", 1, "--dropout", 0.5), "--dropout was 0.0 and is 0.5"),
        (
            ("--max-epoch", 1, "--word-dropout", 0.5, "--autocast", "bfloat16", "--weight-decay", 1, "--sentence-avg"),
            "--sentence-avg was False and is True; --weight-decay was 0.0 and is 1.0; --word-dropout was 0.0 and is "
            "0.5; --autocast was none and is bfloat16. Choose",
        ),
    ],
    ids=["seed", "rate", "dropout", "four"],
)
def test_a_training_that_has_ended_is_not_taken_for_another(options: tuple, said: str, ended: Path, tmp_path: Path):
    done = call_again(ended, tmp_path / "save", *options)
    assert done.returncode == 1
    assert "checkpoint_last.pt is of a training that has ended, and this is another one: " + said in done.stderr


def last_state(save: Path) -> dict:
    return torch.load(save / "checkpoint_last.pt", weights_only=False)


def updates_in(save: Path) -> int:
    return last_state(save)["optimizer_history"][-1]["num_updates"]


@pytest.mark.parametrize("resets", [(), ("--reset-optimizer", "--reset-dataloader", "--reset-meters")], ids=len)
def test_a_training_that_began_with_another_checkpoint_goes_on_from_its_own(resets: tuple, ended: Path, tmp_path: Path):
    start, save = ended / "save" / "checkpoint_last.pt", tmp_path / "save"
    before = 0 if resets else updates_in(ended / "save")

    def call(updates: int, file: Path = start) -> str:
        options = ("--restore-file", file, *resets, "--max-update", before + updates, "--save-interval-updates", 1)
        return toy.train(ended / "data", save, "--arch", "gru_encoder", *options).stdout

    assert "goes on from" not in call(2)
    log = call(3)
    assert f"has begun with --restore-file {start} and goes on from {save / 'checkpoint_last.pt'}" in log
    assert re.findall(r'"num_updates": "(\d+)"', log)[0] == str(before + 3)
    assert updates_in(save) == before + 3
    assert last_state(save)["cfg"]["checkpoint"]["restore_file"] == str(start), "a third call goes on as well"
    shutil.copy(start, tmp_path / "other.pt")
    assert "goes on from" not in call(1, tmp_path / "other.pt"), "another file is another beginning"


def test_a_training_that_keeps_no_last_checkpoint_does_not_overwrite_its_best(ended: Path, tmp_path: Path):
    options = ("--arch", "gru_encoder", "--max-update", 2, "--no-last-checkpoints")
    toy.train(ended / "data", tmp_path, *options)
    best = tmp_path / "checkpoint_best.pt"
    content = best.read_bytes()
    for restored in ((), ("--restore-file", ended / "save" / "checkpoint_last.pt", "--reset-optimizer")):
        done = toy.train(ended / "data", tmp_path, *options, *restored, check=False)
        assert done.returncode == 1
        assert f"{best} is of a training that cannot go on, since --no-last-checkpoints keeps no last" in done.stderr
        assert best.read_bytes() == content
    again = toy.train(ended / "data", tmp_path, *options, "--restore-file", best)
    assert "nothing is left to train: num_updates: 2 >= max_update: 2" in again.stdout


def differences(criterion: str, before: tuple[str, ...], now: tuple[str, ...], *missing: str) -> list[str]:
    """How a training with some flags differs from an ended one, whose checkpoint lacks some options."""
    saved = copy.deepcopy(configuration(criterion, (*ADAM, *before)))
    OmegaConf.set_struct(saved, False)
    for option in missing:
        group, _, name = option.partition(".")
        del saved[group][name]
    task = SimpleNamespace(dataset=lambda _: range(100))
    trainer = SimpleNamespace(cfg=configuration(criterion, (*ADAM, *now)), task=task)
    return training_differences(saved, 100, trainer)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--word-dropout 0.5", "--word-dropout was 0.0 and is 0.5"),
        ("--recurrent-dropout 0.5", "--recurrent-dropout was 0.0 and is 0.5"),
        # None is --dropout, which is not 0.
        ("--encoder-dropout-in 0", "--encoder-dropout-in was None and is 0.0"),
        ("--encoder-dropout-out 0.5", "--encoder-dropout-out was None and is 0.5"),
        ("--decoder-dropout-in 0.5", "--decoder-dropout-in was None and is 0.5"),
        ("--decoder-dropout-out 0.5", "--decoder-dropout-out was None and is 0.5"),
        ("--initialization published", "--initialization was default and is published"),
        ("--encoder-spectral-radius 0.5", "--encoder-spectral-radius was 1.0 and is 0.5"),
        ("--decoder-spectral-radius 0.5", "--decoder-spectral-radius was 1.0 and is 0.5"),
        ("--encoder-freeze-embed", "--encoder-freeze-embed was False and is True"),
        ("--decoder-freeze-embed", "--decoder-freeze-embed was False and is True"),
        ("--autocast bfloat16", "--autocast was none and is bfloat16"),
        ("--label-smoothing 0.1", "--label-smoothing was 0.0 and is 0.1"),
        ("--sentence-avg", "--sentence-avg was False and is True"),
        ("--curriculum 5", "--curriculum was 0 and is 5"),
        ("--warmup-updates 100", "--warmup-updates was 0 and is 100"),
        ("--lr-shrink 0.5", "--lr-shrink was 0.1 and is 0.5"),
        ("--weight-decay 0.1", "--weight-decay was 0.0 and is 0.1"),
        ("--adam-betas (0.5,0.6)", "--adam-betas was [0.9, 0.999] and is (0.5,0.6)"),
        ("--adam-eps 0.1", "--adam-eps was 1e-08 and is 0.1"),
    ],
)
def test_each_option_that_makes_another_model_is_named(flags: str, said: str):
    assert differences("chunked_cross_entropy", (), tuple(flags.split())) == [said]


def test_the_same_options_are_no_difference():
    flags = ("--lr-scheduler", "inverse_sqrt", "--warmup-updates", "5", "--no-epoch-checkpoints")
    assert differences("chunked_cross_entropy", flags, (*flags, "--kernel-backend", "packed", "--max-epoch", "9")) == []
    assert differences("chunked_cross_entropy", (), ("--adam-betas", "(0.9,0.999)")) == []


def test_an_option_that_is_newer_than_the_checkpoint_is_no_difference():
    missing = ("model.initialization", "model.autocast", "criterion.label_smoothing", "optimizer.adam_betas")
    assert differences("chunked_cross_entropy", (), (), *missing) == []
