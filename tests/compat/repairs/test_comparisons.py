"""A checkpoint's parameters are not trained as another model, nor a training taken for another, without a word."""

from __future__ import annotations

import argparse
import copy
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.trainer import Trainer
from omegaconf import OmegaConf

from fairseq_compat.repairs.comparisons import changed_options, training_differences
from tests.models.building import task
from tests.training import ADAM, configuration, trainer

GRU = (
    "--encoder-embed-dim 8 --encoder-hidden-size 6 --decoder-embed-dim 8 --decoder-hidden-size 6"
    " --decoder-out-embed-dim 8"
)
GRCONV = f"{GRU} --arch grconv_encoder"
TRANSFORMER = (
    "--arch transformer --encoder-embed-dim 8 --encoder-ffn-embed-dim 8 --encoder-layers 1 --encoder-attention-heads 2"
    " --decoder-embed-dim 8 --decoder-ffn-embed-dim 8 --decoder-layers 1 --decoder-attention-heads 2"
)


def training(flags: str, **options: object) -> Trainer:
    """fairseq's trainer of a new model with these flags, and then these values of its options."""
    words = (*ADAM, *flags.split())
    result = trainer(task().build_model(configuration("cross_entropy", words).model), "cross_entropy", *words)
    for name, value in options.items():
        setattr(result.cfg.model, name, value)
    result._model = task().build_model(result.cfg.model)
    return result


def save(path: Path, flags: str, **options: object) -> str:
    trained = training(flags, **options)
    trained.consolidate_optimizer()
    trained.save_checkpoint(str(path), {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}})
    return str(path)


@pytest.mark.parametrize(
    ("flags", "before", "after", "said"),
    [
        (GRU, {}, {"decoder_order": "attention_first"}, "--decoder-order word_first → attention_first"),
        (GRU, {}, {"decoder_embed_dim": 7}, "--decoder-embed-dim 8 → 7"),
        (
            GRCONV,
            {"grconv_height": 3},
            {"grconv_activation": "relu", "grconv_height": 2},
            "--grconv-activation tanh → relu, --grconv-height 3 → 2",
        ),
        (TRANSFORMER, {}, {"activation_fn": "gelu"}, "--activation-fn relu → gelu"),
    ],
    ids=["order", "size", "two", "a model of fairseq"],
)
def test_a_training_that_continues_as_another_model_is_refused(flags, before, after, said, tmp_path):
    path = save(tmp_path / "checkpoint_last.pt", flags, **before)
    message = f"{path} holds another model than these options make: {said}. Use those it was trained with"
    with pytest.raises(ValueError, match=re.escape(message)):
        training(flags, **after).load_checkpoint(path)


def test_a_training_that_is_to_begin_anew_says_it_in_one_line(tmp_path, logged):
    """--finetune-from-model sets this and other resets."""
    path = save(tmp_path / "checkpoint_last.pt", GRU)
    changed = training(GRU, decoder_order="attention_first")
    logged()
    changed.load_checkpoint(path, reset_optimizer=True)
    said = f"{path} is continued as another model: --decoder-order word_first → attention_first"
    assert logged().count(said) == 1
    name = "encoder.embed_tokens.weight"
    assert torch.equal(changed.model.state_dict()[name], torch.load(path)["model"][name])
    changed.cfg.checkpoint.reset_dataloader = True
    changed.load_checkpoint(path)
    assert said in logged()


@pytest.mark.parametrize(
    ("flags", "before", "after"),
    [
        (
            GRU,
            {"decoder_order": "score_first"},
            {"decoder_order": "word_first", "dropout": 0.3, "autocast": "bfloat16"},
        ),
        (TRANSFORMER, {}, {"dropout": 0.3, "attention_dropout": 0.1, "arch": "transformer_iwslt_de_en"}),
    ],
    ids=["ours", "a model of fairseq"],
)
def test_a_training_with_options_that_keep_the_function_continues(flags, before, after, tmp_path, logged):
    path = save(tmp_path / "checkpoint_last.pt", flags, **before)
    assert training(flags, **after).load_checkpoint(path)["train_iterator"]["epoch"] == 1
    assert "another model" not in logged()


def test_an_option_that_a_checkpoint_does_not_know_has_its_default(tmp_path):
    path = save(tmp_path / "checkpoint_last.pt", GRU)
    state = torch.load(path)
    del state["cfg"]["model"]["decoder_order"], state["cfg"]["model"]["skip_io"]
    torch.save(state, path)
    assert training(GRU).load_checkpoint(path) is not None
    with pytest.raises(ValueError, match="--decoder-order word_first → attention_first"):
        training(GRU, decoder_order="attention_first").load_checkpoint(path)


def test_options_of_any_form_are_compared():
    before = {"_name": "gru_encoder", "decoder_order": "update_first"}
    now = argparse.Namespace(arch="gru_encoder", decoder_order="attention_first")
    assert changed_options(before, now) == []
    assert changed_options(now, before) == []
    del now.decoder_order
    assert changed_options(before, now) == ["--decoder-order update_first → word_first"]
    assert changed_options(before, {"_name": "unet_encoder"}) == ["--arch gru_encoder → unet_encoder"]
    assert changed_options(None, now) == [], "a checkpoint that has no options"


def test_settings_of_the_optimizer_that_a_checkpoint_keeps_are_named(tmp_path, caplog):
    path = save(tmp_path / "checkpoint.pt", GRU)
    training(f"{GRU} --lr 0.5").load_checkpoint(path)
    assert "goes on with its" not in caplog.text
    other = training(f"{GRU} --weight-decay 5 --adam-betas (0.5,0.6)")
    other.load_checkpoint(path)
    assert f"the optimizer of {path} goes on with its weight_decay of 0.0, not 5.0" in caplog.text
    assert "its betas of [0.9, 0.999], not [0.5, 0.6]" in caplog.text
    caplog.clear()
    other.load_checkpoint(path, optimizer_overrides={"weight_decay": 5.0, "betas": [0.5, 0.6]})
    assert "goes on with its" not in caplog.text
    other.load_checkpoint(path, reset_optimizer=True)
    assert "goes on with its" not in caplog.text


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


def test_each_option_that_makes_another_model_is_named():
    changes = {
        "--sentence-avg": "--sentence-avg was False and is True",
        "--curriculum 5": "--curriculum was 0 and is 5",
        "--label-smoothing 0.1": "--label-smoothing was 0.0 and is 0.1",
        "--weight-decay 0.1": "--weight-decay was 0.0 and is 0.1",
        "--adam-betas (0.5,0.6)": "--adam-betas was [0.9, 0.999] and is (0.5,0.6)",
        "--warmup-updates 100": "--warmup-updates was 0 and is 100",
        "--encoder-freeze-embed": "--encoder-freeze-embed was False and is True",
        # Of our own models.
        "--word-dropout 0.5": "--word-dropout was 0.0 and is 0.5",
        "--initialization published": "--initialization was default and is published",
        "--autocast bfloat16": "--autocast was none and is bfloat16",
    }
    flags = " ".join(changes).split()
    assert sorted(differences("chunked_cross_entropy", (), tuple(flags))) == sorted(changes.values())


def test_options_of_a_task_that_decide_batches_are_named():
    task = ("--task", "published_translation", "--sort-k-batches")
    said = ["--sort-k-batches was 4 and is 2", "--max-train-words was 0 and is 8"]
    assert differences("cross_entropy", (*task, "4"), (*task, "2", "--max-train-words", "8")) == said


def test_the_same_options_are_no_difference():
    flags = ("--lr-scheduler", "inverse_sqrt", "--warmup-updates", "5", "--no-epoch-checkpoints")
    assert differences("chunked_cross_entropy", flags, (*flags, "--kernel-backend", "packed", "--max-epoch", "9")) == []
    assert differences("chunked_cross_entropy", (), ("--adam-betas", "(0.9,0.999)")) == []


def test_an_option_that_is_newer_than_the_checkpoint_is_no_difference():
    missing = ("model.initialization", "model.autocast", "criterion.label_smoothing", "optimizer.adam_betas")
    assert differences("chunked_cross_entropy", (), (), *missing) == []
