"""A model meets the dictionaries and the direction that it was trained with, or is refused."""

from __future__ import annotations

import re
import shutil
from argparse import Namespace
from pathlib import Path

import pytest
from fairseq.checkpoint_utils import load_checkpoint_to_cpu, load_model_ensemble_and_task
from fairseq.data import Dictionary
from fairseq.tasks.language_modeling import LanguageModelingConfig, LanguageModelingTask
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from fairseq_compat.repairs.comparisons import changed_dictionaries
from tests.cli import toy
from tests.models.building import task
from tests.training import ADAM, configuration, trainer
from user_dir.checkpoints.conversions import average_checkpoints

GRU = "--encoder-embed-dim 8 --encoder-hidden-size 6 --decoder-embed-dim 8 --decoder-hidden-size 6 --seed 3"


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    return toy.learned(tmp_path_factory)


def exchange_words(data: Path, copy: Path, language: str) -> str:
    """A copy of the data whose dictionary has two words in each other's place."""
    shutil.copytree(data, copy)
    first, second, *others = (copy / f"dict.{language}.txt").read_text().splitlines()
    (copy / f"dict.{language}.txt").write_text("\n".join([second, first, *others]) + "\n")
    return str(copy)


@pytest.mark.parametrize(("language", "side"), [("src", "source"), ("tgt", "target")])
def test_a_model_is_not_read_with_other_words(language, side, learned, tmp_path):
    data = exchange_words(learned / "data", tmp_path / "data", language)
    path = str(learned / "save" / "checkpoint_best.pt")
    said = f"{path}: not what the model was trained with: the {side} dictionary in {data} has other words"
    with pytest.raises(ValueError, match=re.escape(said)):
        load_model_ensemble_and_task([path], arg_overrides={"data": data})


def test_counts_and_places_of_a_dictionary_may_change(learned, tmp_path):
    data = tmp_path / "elsewhere"
    shutil.copytree(learned / "data", data)
    words = [line.split()[0] for line in (data / "dict.src.txt").read_text().splitlines()]
    (data / "dict.src.txt").write_text("".join(f"{word} 1\n" for word in words))
    path = str(learned / "save" / "checkpoint_best.pt")
    models, _, _ = load_model_ensemble_and_task([path], arg_overrides={"data": str(data)})
    assert len(models) == 1


def test_the_command_that_translates_refuses_other_words(learned, tmp_path):
    data = exchange_words(learned / "data", tmp_path / "data", "tgt")
    done = toy.generate(Path(data), learned / "save" / "checkpoint_best.pt", check=False)
    assert done.returncode
    assert f"the target dictionary in {data} has other words" in done.stderr
    assert not toy.lines(done.stdout, "H")


@pytest.mark.parametrize(("language", "side"), [("src", "srcdict"), ("tgt", "tgtdict")])
def test_parts_of_training_data_have_one_dictionary(language, side, learned, tmp_path):
    data = exchange_words(learned / "data", tmp_path / "data", language)
    done = toy.train(f"{learned / 'data'}:{data}", tmp_path, "--arch", "gru_encoder", "--max-update", 1, check=False)
    assert done.returncode and f"--{side}" in done.stderr
    assert f"{data}/dict.{language}.txt has other words than {learned}/data/dict.{language}.txt" in done.stderr


def test_parts_of_training_data_with_the_same_words_or_none_are_one(learned):
    parts = [str(learned / "data"), str(learned / "data"), str(learned)]
    TranslationTask.setup_task(TranslationConfig(data=":".join(parts)))


def test_parts_of_a_language_models_data_have_one_dictionary(tmp_path):
    for folder, words in (("a", "x y"), ("b", "y x")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dict.txt").write_text("".join(f"{word} 1\n" for word in words.split()))
    with pytest.raises(
        ValueError, match=re.escape(f"{tmp_path}/b/dict.txt has other words than {tmp_path}/a/dict.txt")
    ):
        LanguageModelingTask.setup_task(LanguageModelingConfig(data=f"{tmp_path}/a:{tmp_path}/b"))


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


def test_a_language_model_has_a_dictionary(tmp_path):
    def language_model(*words: str) -> LanguageModelingTask:
        dictionary = Dictionary()
        for word in words:
            dictionary.add_symbol(word)
        return LanguageModelingTask(Namespace(data="folder"), dictionary)

    state = language_model("a", "b").state_dict()
    assert changed_dictionaries(state, language_model("a", "b")) == []
    both = [f"the {side} dictionary in folder has other words" for side in ("source", "target")]
    assert changed_dictionaries(state, language_model("b", "a")) == both


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


def test_the_mean_of_checkpoints_knows_their_dictionaries(learned, tmp_path):
    path = learned / "save" / "checkpoint_best.pt"
    average_checkpoints([path, path], tmp_path / "mean.pt")
    states = [load_checkpoint_to_cpu(str(each)) for each in (path, tmp_path / "mean.pt")]
    assert states[0]["task_state"] == states[1]["task_state"] != {}
