"""How long a sentence the translation models of fairseq take, and what is read where nothing limits it."""

from __future__ import annotations

import argparse
import re

import pytest
import torch
from fairseq import models, options, tasks
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

SMALL = {
    "lstm": "--encoder-embed-dim 4 --encoder-hidden-size 4 --decoder-embed-dim 4 --decoder-hidden-size 4",
    "fconv": "--encoder-embed-dim 4 --decoder-embed-dim 4 --encoder-layers [(4,3)] --decoder-layers [(4,3)]",
    "transformer": "--encoder-embed-dim 8 --decoder-embed-dim 8 --encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8",
    "lightconv": "--encoder-embed-dim 8 --decoder-embed-dim 8 --encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8"
    " --encoder-conv-dim 8 --decoder-conv-dim 8",
}


def parse(*arguments: str) -> argparse.Namespace:
    return options.parse_args_and_arch(options.get_training_parser(), ["data", "--optimizer", "adam", *arguments])


def build(arch: str, *arguments: str) -> tuple[tasks.FairseqTask, models.BaseFairseqModel]:
    """The model that fairseq-train makes of its arguments, and its task."""
    config = convert_namespace_to_omegaconf(parse("--arch", arch, *SMALL[arch].split(), *arguments))
    task = tasks.TASK_REGISTRY["translation"](config.task, Dictionary(), Dictionary())
    return task, task.build_model(config.model)


def test_a_recurrent_model_has_no_limit():
    task, model = build("lstm")
    assert min(*task.max_positions(), *model.max_positions()) >= 10**9


@pytest.mark.parametrize("arch", ["fconv", "transformer", "lightconv"])
def test_models_with_positions_have_fairseqs_number_of_them(arch):
    stated = build(arch, "--max-source-positions", "1024", "--max-target-positions", "1024")[1]
    task, model = build(arch)
    assert model.max_positions() == stated.max_positions() <= (1024, 1024) < task.max_positions()
    shapes, expected = ({name: value.shape for name, value in one.state_dict().items()} for one in (model, stated))
    assert shapes == expected


@pytest.mark.parametrize("arch", SMALL)
def test_a_limit_that_is_given_holds(arch):
    task, model = build(arch, "--max-source-positions", "50", "--max-target-positions", "60")
    assert task.max_positions() == (50, 60)
    assert model.max_positions() <= (50, 60)


def pairs(*lengths: int) -> LanguagePairDataset:
    sentences = [torch.full((length,), 5) for length in lengths]
    return LanguagePairDataset(sentences, lengths, Dictionary(), sentences, lengths, Dictionary(), shuffle=False)


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ((1024, 1024), "1,024 source and 1,024 target, see --max-source-positions"),
        ((10**9, 2000), "2,000 target, see --max-source-positions"),
    ],
)
def test_the_first_sentence_that_is_too_long_is_named(limits, allowed):
    task, _ = build("lstm")
    dataset = pairs(5, 2001, 1030)
    message = (
        "the input, line 2: 2,001 source and 2,001 target tokens, the end of the sentence included, are more than "
    )
    with pytest.raises(ValueError, match=re.escape(f"{message}the model takes ({allowed}")):
        task.get_batch_iterator(dataset, max_positions=limits)
    task.get_batch_iterator(dataset, max_positions=limits, ignore_invalid_inputs=True)


def test_without_a_limit_a_source_is_truncated_where_fairseq_does(tmp_path):
    (tmp_path / "test.src").write_text("a " * 2000 + "\n")
    (tmp_path / "test.tgt").write_text("a\n")
    task, _ = build("lstm", "--truncate-source", "--dataset-impl", "raw")
    task.cfg.data, task.cfg.source_lang, task.cfg.target_lang = str(tmp_path), "src", "tgt"
    for side in ("src", "tgt"):
        (tmp_path / f"test.src-tgt.{side}").write_bytes((tmp_path / f"test.{side}").read_bytes())
    task.load_dataset("test")
    assert task.dataset("test").size(0) == (1024, 2)
