"""A checkpoint with contents that no trained model has is refused wherever it is loaded, before anything is built."""

from __future__ import annotations

import argparse
from pathlib import Path
from pickle import UnpicklingError

import pytest
import torch
from fairseq import checkpoint_utils

from tests.checkpoints.checkpoints import small_checkpoint
from user_dir.checkpoints.checkpoint import Checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_checkpoint(tmp_path, "gru_encoder")
    return tmp_path


def change(folder: Path, **entries: object) -> Path:
    """The folder's checkpoint with other entries: dictionaries are added to those that it has."""
    path = folder / "checkpoint.pt"
    state = torch.load(path)
    for name, value in entries.items():
        state[name] = {**state[name], **value} if isinstance(value, dict) else value
    torch.save(state, path)
    return path


def assert_refused(path: Path, reason: str) -> None:
    with pytest.raises(UnpicklingError, match=reason):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    with pytest.raises(ValueError, match=rf"checkpoint\.pt.*{reason}"):
        Checkpoint(path, path.parent)


def test_parameters_that_are_not_finite_are_refused_by_name(folder: Path):
    name = "decoder.layer.readout.state.weight"
    weight = torch.load(folder / "checkpoint.pt")["model"][name]
    weight[2, 3] = float("nan")
    assert_refused(change(folder, model={name: weight}), rf"its parameter {name} has numbers that are NaN")


def test_what_fairseq_leaves_uninitialized_may_be_anything(folder: Path):
    path = change(folder, model={"encoder.embed_positions._float_tensor": torch.tensor([float("nan")])})
    checkpoint_utils.load_checkpoint_to_cpu(str(path))


@pytest.mark.parametrize("text", ["${oc.env:SECRET}", "a ${ oc.env : SECRET }", "${${model._name}:SECRET}"])
def test_an_option_that_asks_for_a_variable_is_refused(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "the secret")
    options = torch.load(folder / "checkpoint.pt")["cfg"]
    options["task"]["source_lang"] = text
    reason = r"its option cfg\.task\.source_lang is '.*SECRET.*', which asks for something outside"
    assert_refused(change(folder, cfg=options), reason)
    path = change(folder, cfg=None, args=argparse.Namespace(arch="lstm", langs=["fr", text]))
    with pytest.raises(UnpicklingError, match=r"its option args\.langs\.1 is"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))


def test_options_that_are_other_options_are_read(folder: Path):
    options = torch.load(folder / "checkpoint.pt")["cfg"]
    options["task"]["target_lang"] = "${checkpoint.checkpoint_suffix}tgt"
    state = checkpoint_utils.load_checkpoint_to_cpu(str(change(folder, cfg=options)))
    assert state["cfg"].task.target_lang == "tgt"
