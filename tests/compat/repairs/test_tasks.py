"""The words, the lengths, and the parts of data that a model meets."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

import pytest
import torch
from fairseq import models, options, tasks
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from fairseq_compat.repairs.comparisons import changed_dictionaries
from tests.models.building import task
from tests.training import ADAM, configuration, trainer

GRU = "--encoder-embed-dim 8 --encoder-hidden-size 6 --decoder-embed-dim 8 --decoder-hidden-size 6 --seed 3"


def exchange_words(data: Path, copy: Path, language: str) -> str:
    """A copy of the data whose dictionary has two words in each other's place."""
    shutil.copytree(data, copy)
    first, second, *others = (copy / f"dict.{language}.txt").read_text().splitlines()
    (copy / f"dict.{language}.txt").write_text("\n".join([second, first, *others]) + "\n")
    return str(copy)


def test_a_model_is_not_read_with_other_words(data, trained, tmp_path):
    other = exchange_words(data, tmp_path / "data", "tgt")
    said = f"not what the model was trained with: the target dictionary in {other} has other words"
    with pytest.raises(ValueError, match=re.escape(said)):
        load_model_ensemble_and_task([str(trained)], arg_overrides={"data": other})


def test_counts_and_places_of_a_dictionary_may_change(data, trained, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(data, elsewhere)
    words = [line.split()[0] for line in (elsewhere / "dict.src.txt").read_text().splitlines()]
    (elsewhere / "dict.src.txt").write_text("".join(f"{word} 1\n" for word in words))
    models, _, _ = load_model_ensemble_and_task([str(trained)], arg_overrides={"data": str(elsewhere)})
    assert len(models) == 1


def test_parts_of_training_data_have_one_dictionary(data, tmp_path):
    other = exchange_words(data, tmp_path / "data", "tgt")
    said = f"{other}/dict.tgt.txt has other words than {data}/dict.tgt.txt"
    with pytest.raises(ValueError, match=re.escape(said)):
        TranslationTask.setup_task(TranslationConfig(data=f"{data}:{other}"))
    TranslationTask.setup_task(TranslationConfig(data=f"{data}:{data}:{data.parent}"))


def bilingual(source: str, target: str, **options):
    made = task(joined=True, **options)
    made.cfg.source_lang, made.cfg.target_lang = source, target
    return made


def test_the_opposite_direction_with_one_dictionary_is_no_translation():
    state = bilingual("fr", "en").state_dict()
    assert changed_dictionaries(state, bilingual("en", "fr")) == ["fr-en → en-fr"]
    with pytest.raises(ValueError, match="fr-en → en-fr"):
        bilingual("en", "fr").load_state_dict(state)
    assert changed_dictionaries(state, bilingual("fr", "de")) == [], "related languages may share a model"
    bilingual("fr", "en").load_state_dict(state)


def test_a_checkpoint_that_does_not_know_its_dictionaries_is_read():
    assert changed_dictionaries({}, task()) == []
    assert changed_dictionaries(task().state_dict(), None) == []


def training(source: str, target: str):
    """fairseq's trainer of a new model of this direction."""
    words = (*ADAM, *GRU.split())
    model = task(joined=True).build_model(configuration("cross_entropy", words).model)
    result = trainer(model, "cross_entropy", *words)
    result.task = bilingual(source, target)
    return result


def test_a_training_is_not_continued_with_other_words(tmp_path, caplog):
    path = str(tmp_path / "checkpoint_last.pt")
    begun = training("fr", "en")
    begun.consolidate_optimizer()
    begun.save_checkpoint(path, {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}})
    with pytest.raises(ValueError, match=f"{re.escape(path)} holds another model .*: fr-en → en-fr"):
        training("en", "fr").load_checkpoint(path)
    training("en", "fr").load_checkpoint(path, reset_optimizer=True)
    assert f"{path} is continued as another model: fr-en → en-fr" in caplog.text
    assert training("fr", "en").load_checkpoint(path) is not None


SMALL = {
    "lstm": "--encoder-embed-dim 4 --encoder-hidden-size 4 --decoder-embed-dim 4 --decoder-hidden-size 4",
    "transformer": "--encoder-embed-dim 8 --decoder-embed-dim 8 --encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8",
}


def parse(*arguments: str) -> argparse.Namespace:
    return options.parse_args_and_arch(options.get_training_parser(), ["data", "--optimizer", "adam", *arguments])


def build(arch: str, *arguments: str) -> tuple[tasks.FairseqTask, models.BaseFairseqModel]:
    """The model that fairseq-train makes of its arguments, and its task."""
    config = convert_namespace_to_omegaconf(parse("--arch", arch, *SMALL[arch].split(), *arguments))
    task = tasks.TASK_REGISTRY["translation"](config.task, Dictionary(), Dictionary())
    return task, task.build_model(config.model)


def test_a_recurrent_model_has_no_limit_but_one_that_is_given():
    task, model = build("lstm")
    assert min(*task.max_positions(), *model.max_positions()) >= 10**9
    task, model = build("lstm", "--max-source-positions", "50", "--max-target-positions", "60")
    assert task.max_positions() == (50, 60)
    assert model.max_positions() <= (50, 60)


def test_models_with_positions_have_fairseqs_number_of_them():
    stated = build("transformer", "--max-source-positions", "1024", "--max-target-positions", "1024")[1]
    task, model = build("transformer")
    assert model.max_positions() == stated.max_positions() <= (1024, 1024) < task.max_positions()
    shapes, expected = ({name: value.shape for name, value in one.state_dict().items()} for one in (model, stated))
    assert shapes == expected


def pairs(*lengths: int) -> LanguagePairDataset:
    sentences = [torch.full((length,), 5) for length in lengths]
    return LanguagePairDataset(sentences, lengths, Dictionary(), sentences, lengths, Dictionary(), shuffle=False)


def test_the_first_sentence_that_is_too_long_is_named():
    task, _ = build("lstm")
    dataset, limits = pairs(5, 2001, 1030), (10**9, 2000)
    tokens = "2,001 source and 2,001 target tokens, the end of the sentence included, are more than 2,000 target:"
    with pytest.raises(ValueError, match=re.escape(f"the input, line 2: {tokens}")):
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
