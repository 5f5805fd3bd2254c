"""Gradients that are not numbers and losses that grow without bound are named, under fairseq's own criterion too."""

from __future__ import annotations

import logging
import re

import pytest
import torch

from tests.models.building import build, sample
from tests.training import ADAM, trainer

BATCH = sample([4, 1, 6], [5, 2, 7])


def poison(model: torch.nn.Module) -> None:
    """Makes one gradient infinite, of a parameter in the middle of the model."""
    model.decoder.layer.first.gru.bias.register_hook(lambda gradient: gradient * float("inf"))


def test_the_update_the_parameter_and_the_remedy_are_named(tmp_path):
    model = build("gru_encoder")
    training = trainer(model, "cross_entropy", *ADAM, save_dir=str(tmp_path))
    training.train_step([BATCH])
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    poison(model)
    message = (
        "update 2: the gradient of decoder.layer.first.gru.bias is not a finite number: lower --lr (now 0.01) or lower "
        "--clip-norm (now 2; 0 is off). The model before this update is crash.pt in --save-dir"
    )
    with pytest.raises(FloatingPointError, match=re.escape(message)):
        training.train_step([BATCH])
    saved = torch.load(tmp_path / "crash.pt")["model"]
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name]) and torch.equal(saved[name], before[name])


def test_all_parameters_after_the_first_are_counted(tmp_path):
    model = build("gru_encoder")
    with torch.no_grad():
        model.encoder.embed_tokens.weight.fill_(float("nan"))
    training = trainer(model, "cross_entropy", *ADAM, save_dir=str(tmp_path))
    with pytest.raises(FloatingPointError, match=r"update 1: the gradient of \S+ and of \d+ other parameters"):
        training.train_step([BATCH])


def test_a_loss_that_grows_without_bound_is_reported(caplog):
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM)
    training.cfg.optimizer.lr = training.cfg.lr_scheduler.lr = [1e6]
    training.cfg.optimization.clip_norm = 0
    with caplog.at_level(logging.WARNING):
        for _ in range(6):
            training.train_step([BATCH])
    warnings = [record.getMessage() for record in caplog.records if "diverges" in record.getMessage()]
    assert re.fullmatch(
        r"update 2: the loss is \S+e\+\d+ and was [3-5]\.?\d* when this call began: training diverges; lower --lr "
        r"\(now 1e\+06\) or set --clip-norm \(now 0; 0 is off\)",
        warnings[0],
    )
    assert len(warnings) < 4, "a warning an update would hide everything else"


def test_training_that_goes_well_is_not_warned_of(caplog):
    training = trainer(build("gru_encoder"), "cross_entropy", *ADAM)
    with caplog.at_level(logging.WARNING):
        losses = [training.train_step([BATCH])["loss"] for _ in range(20)]
    assert losses[-1] < losses[0] and "diverges" not in caplog.text
