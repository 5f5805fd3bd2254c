"""Narrow trainings and moving averages: what a resumed training goes on with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.dataclass.configs import EMAConfig
from fairseq.models.ema.ema import EMA
from fairseq.optim.adam import FairseqAdam
from fairseq.optim.fp16_optimizer import FP16Optimizer
from fairseq.trainer import Trainer

from tests.models.building import build, task

from .commands import new_trainer, save, train


@pytest.fixture
def training(tmp_path: Path) -> Callable[[], Trainer]:
    return lambda: new_trainer(tmp_path, "--bf16")


@pytest.fixture
def saved(training: Callable[[], Trainer], tmp_path: Path) -> Path:
    """A checkpoint of which the float32 weights are a little more than the narrow ones."""
    made = training()
    for master in made.optimizer.fp32_params:
        master.data.mul_(1 + 2**-11)
    made.optimizer._sync_fp32_params_to_fp16()
    return Path(save(made, epoch=1, seen=3))


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


def test_a_training_that_begins_anew_or_with_an_older_checkpoint_begins_with_the_model(saved: Path, training):
    """--finetune-from-model resets the optimizer, too."""
    made = training()
    made.load_checkpoint(str(saved), reset_optimizer=True)
    assert masters(made).equal(rounded(made))
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


def test_weights_that_follow_each_other_in_one_tensor(monkeypatch: pytest.MonkeyPatch):
    """With --fp16, on a GPU: one tensor for each device."""
    narrow = torch.float16
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


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("in_float32", [False, True])
def test_each_parameter_moves_as_far(half: bool, in_float32: bool):
    shared = {"encoder_embed_dim": 8, "decoder_out_embed_dim": 8, "share_all_embeddings": True}
    model = build("gru_encoder", task(source_words=13, joined=True), share_decoder_input_output_embed=True, **shared)
    model = model.half() if half else model
    averages = EMA(model, EMAConfig(store_ema=True, ema_decay=0.75, ema_fp32=in_float32))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert before["encoder.embed_tokens.weight"].equal(before["decoder.output_projection.weight"])
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for _ in range(2):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(before[names[id(parameter)]] + 1)
        averages.step(model, 1)
    moved = {name: (value - before[name]).float().mean() for name, value in averages.get_model().state_dict().items()}
    assert {round(float(distance), 2) for distance in moved.values()} == {round(1 - 0.75**2, 2)}


def test_averages_of_16_bits_move_however_little():
    model = torch.nn.Linear(3, 2).bfloat16()
    averages = EMA(model, EMAConfig(store_ema=True, ema_decay=0.9999))
    before = averages.get_model().weight.float()
    with torch.no_grad():
        model.weight += 1
    for _ in range(1000):
        averages.step(model, 1)
    assert (averages.get_model().weight - before).allclose(torch.tensor(1 - 0.9999**1000), atol=0.005)


class Versioned(torch.nn.Linear):
    """A layer whose state has more than tensors."""

    def get_extra_state(self) -> dict[str, int]:
        return {"version": 2}

    def set_extra_state(self, state: dict[str, int]) -> None:
        assert state == {"version": 2}


def test_what_is_no_tensor_is_not_averaged():
    model = Versioned(3, 2)
    averages = EMA(model, EMAConfig(store_ema=True, ema_decay=0.75))
    before = model.weight.detach().clone()
    with torch.no_grad():
        model.weight += 1
    averages.step(model, 1)
    assert averages.get_model().weight.allclose(before + 0.25)


def learned(data: Path, folder: Path, updates: int) -> dict[str, torch.Tensor]:
    """What fairseq-train makes of so many updates: weights, which 16 bits round, and their averages."""
    narrow = ("--bf16", "--lr", 0.001, "--store-ema", "--ema-decay", 0.5)
    state = train(data, folder, "--max-tokens", 60, "--dropout", 0.2, *narrow, "--max-update", updates)
    averages = {f"average {name}": value for name, value in state["extra_state"]["ema"].items()}
    return {**state["model"], **averages}


def test_a_resumed_training_learns_what_an_uninterrupted_one_does(data: Path, tmp_path: Path):
    expected = learned(data, tmp_path / "whole", 9)
    for updates in (3, 4, 9):
        found = learned(data, tmp_path / "parts", updates)
    assert found.keys() == expected.keys()
    assert all(found[name].equal(value) for name, value in expected.items())
