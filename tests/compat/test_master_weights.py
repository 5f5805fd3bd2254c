"""--bf16 and --fp16: a resumed training goes on with the float32 weights that it had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.optim.adam import FairseqAdam
from fairseq.optim.fp16_optimizer import FP16Optimizer
from fairseq.trainer import Trainer

from tests.cli import toy
from tests.models.building import build
from tests.training import ADAM, trainer


def test_a_resumed_training_has_the_weights_of_an_uninterrupted_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    data = toy.trained(tmp_path_factory) / "data"

    def weights(save: Path, updates: int) -> dict[str, torch.Tensor]:
        options = ("--bf16", "--lr", 0.001, "--max-tokens", 60, "--max-update", updates)
        toy.train(data, save, "--arch", "gru_encoder", *options)
        return torch.load(save / "checkpoint_last.pt")["model"]

    expected = weights(tmp_path / "whole", 12)
    weights(tmp_path / "parts", 5)
    found = weights(tmp_path / "parts", 12)
    assert found.keys() == expected.keys()
    assert all(found[name].equal(value) for name, value in expected.items())


@pytest.fixture
def training(tmp_path: Path) -> Callable[[], Trainer]:
    def new() -> Trainer:
        made = trainer(build("gru_encoder"), "cross_entropy", *ADAM, "--bf16", save_dir=str(tmp_path))
        made.consolidate_optimizer()
        return made

    return new


@pytest.fixture
def saved(training: Callable[[], Trainer], tmp_path: Path) -> Path:
    """A checkpoint of which the float32 weights are a little more than the narrow ones."""
    made, path = training(), tmp_path / "checkpoint_last.pt"
    for master in made.optimizer.fp32_params:
        master.data.mul_(1 + 2**-11)
    made.optimizer._sync_fp32_params_to_fp16()
    made.save_checkpoint(str(path), {"train_iterator": {"version": 2, "epoch": 1, "iterations_in_epoch": 3}})
    return path


def masters(made: Trainer) -> torch.Tensor:
    return torch.cat([master.detach().flatten() for master in made.optimizer.fp32_params])


def rounded(made: Trainer) -> torch.Tensor:
    return torch.cat([weight.detach().flatten().float() for weight in made.optimizer.fp16_params])


def test_a_checkpoint_has_the_float32_weights(saved: Path, training: Callable[[], Trainer]):
    kept = torch.load(saved, weights_only=True)["last_optimizer_state"]["master_weights"]
    assert {value.dtype for value in kept} == {torch.float32}
    made = training()
    made.load_checkpoint(str(saved))
    assert masters(made).equal(torch.cat([value.flatten() for value in kept]))
    assert not masters(made).equal(rounded(made))
    assert masters(made).bfloat16().float().equal(rounded(made))


def test_a_training_that_begins_anew_begins_with_the_model(saved: Path, training: Callable[[], Trainer]):
    """--finetune-from-model resets the optimizer, too."""
    made = training()
    made.load_checkpoint(str(saved), reset_optimizer=True)
    assert masters(made).equal(rounded(made))


def test_a_checkpoint_without_them_is_loaded_as_before(saved: Path, training: Callable[[], Trainer]):
    state = torch.load(saved)
    del state["last_optimizer_state"]["master_weights"]
    torch.save(state, saved)
    made = training()
    made.load_checkpoint(str(saved))
    assert masters(made).equal(rounded(made))


def test_weights_that_someone_has_changed_since_are_the_models(saved: Path, training: Callable[[], Trainer]):
    state = torch.load(saved)
    state["model"]["decoder.output_projection.bias"] += 1
    torch.save(state, saved)
    made = training()
    made.load_checkpoint(str(saved))
    changed = made.get_model().decoder.output_projection.bias
    for weight, master in zip(made.optimizer.fp16_params, made.optimizer.fp32_params, strict=True):
        assert master.equal(weight.float()) == (weight is changed or not weight.any())


@pytest.mark.parametrize("narrow", [torch.float16, torch.bfloat16])
def test_weights_that_follow_each_other_in_one_tensor(narrow: torch.dtype, monkeypatch: pytest.MonkeyPatch):
    """With --fp16, on a GPU: one tensor for each device."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)

    def new() -> FP16Optimizer:
        torch.manual_seed(1)
        parameters = [torch.nn.Parameter(torch.randn(size).to(narrow)) for size in (3, 5)]
        adam = SimpleNamespace(adam_betas="(0.9, 0.98)", adam_eps=1e-8, weight_decay=0.0, lr=[0.01])
        flat = FP16Optimizer.build_fp32_params(adam, parameters)
        optimizer = FP16Optimizer.__new__(FP16Optimizer)
        optimizer.fp16_params, optimizer.fp32_params, optimizer.scaler = parameters, flat, None
        inner = SimpleNamespace(fp16_adam_stats=False, use_old_adam=True, tpu=False, **vars(adam))
        optimizer.fp32_optimizer = FairseqAdam(inner, flat.values())
        return optimizer

    first, second = new(), new()
    (flat,), (other,) = first.fp32_params.values(), second.fp32_params.values()
    flat.data.mul_(1 + 2**-14)
    assert flat.to(narrow).equal(other.to(narrow)) and not flat.equal(other)
    second.load_state_dict(first.state_dict())
    assert flat.equal(other)
