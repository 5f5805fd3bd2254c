"""fairseq's commands in this process, on a toy corpus: what they refuse is raised, what they log is captured."""

from __future__ import annotations

import contextlib
import io
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import fairseq_cli.generate
import fairseq_cli.preprocess
import fairseq_cli.train
import torch
from fairseq import options
from fairseq.dataclass.configs import FairseqConfig
from fairseq.trainer import Trainer
from omegaconf import DictConfig, open_dict

from tests.cli import toy
from tests.models.building import build
from tests.training import ADAM, configuration_of, trainer

LSTM = [
    *("--arch", "lstm", "--encoder-embed-dim", "8", "--encoder-hidden-size", "8", "--decoder-embed-dim", "8"),
    *("--decoder-hidden-size", "8", "--decoder-out-embed-dim", "8"),
]


def preprocess(text: Path, destination: Path, *flags: object, splits: tuple[str, ...] = ("train", "valid", "test")):
    """fairseq-preprocess on the files of a corpus."""
    prefixes = [f"--{split}pref={text / split}" for split in splits]
    line = ["-s", "src", "-t", "tgt", *prefixes, "--destdir", destination, *flags]
    fairseq_cli.preprocess.main(options.get_preprocessing_parser().parse_args([str(word) for word in line]))


def train(data: object, save_dir: Path, *flags: object, model: list[str] | None = None) -> dict[str, Any] | None:
    """fairseq-train on binarized data, by default of a gru_encoder; returns the last checkpoint, if it leaves one."""
    model = ["--arch", "gru_encoder", *toy.SMALL] if model is None else model
    line = [data, "--save-dir", save_dir, *model, *toy.TRAINING, *flags]
    fairseq_cli.train.main(parse(options.get_training_parser(), line))
    last = save_dir / "checkpoint_last.pt"
    return torch.load(last) if last.exists() else None


def generate(data: Path, path: object, *flags: object) -> str:
    """What fairseq-generate prints of the test set."""
    line = [data, "--path", path, "--cpu", "--num-workers", 0, "--beam", 3, *flags]
    return printed(fairseq_cli.generate.main, parse(options.get_generation_parser(), line))


def printed(function: Callable, *arguments: object) -> str:
    """What a function prints."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        function(*arguments)
    return output.getvalue()


def parse(parser: ArgumentParser, line: list[object]) -> DictConfig:
    """The configuration that fairseq makes of a command line, without Hydra."""
    config = configuration_of(options.parse_args_and_arch(parser, [str(word) for word in line]))
    with open_dict(config):
        for field in fields(FairseqConfig):
            config.setdefault(field.name, None)
    return config


def new_trainer(folder: Path, *flags: str) -> Trainer:
    """fairseq's trainer of a new model, without data."""
    made = trainer(build("gru_encoder"), "cross_entropy", *ADAM, *flags, save_dir=str(folder))
    made.consolidate_optimizer()
    return made


def save(training: Trainer, *, epoch: int = 2, seen: int = 0, **extra: object) -> str:
    """The last checkpoint of a trainer, when a number of batches of an epoch have been seen."""
    path = str(Path(training.cfg.checkpoint.save_dir, "checkpoint_last.pt"))
    position = {"version": 2, "epoch": epoch, "iterations_in_epoch": seen}
    training.save_checkpoint(path, {"train_iterator": position, **extra})
    return path
