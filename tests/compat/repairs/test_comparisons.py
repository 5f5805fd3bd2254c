"""A checkpoint's parameters are not trained as another model without a word."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.trainer import Trainer

from fairseq_compat.repairs.comparisons import batch_differences, changed_options
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


def test_options_of_a_task_that_decide_batches_are_named():
    published = (*ADAM, "--task", "published_translation", "--sort-k-batches")
    before = configuration("cross_entropy", (*published, "4"))
    now = configuration("cross_entropy", (*published, "2", "--max-train-words", "8"))
    resumed = SimpleNamespace(cfg=now, task=SimpleNamespace(dataset=lambda _: range(100)))
    said = ["--sort-k-batches was 4 and is 2", "--max-train-words was 0 and is 8"]
    assert batch_differences(before, 100, resumed) == said
