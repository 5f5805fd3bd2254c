"""Misspelled options of a search and of a model are refused, with the nearest name there is."""

from __future__ import annotations

import pytest

from tests.cli import toy


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return toy.trained(tmp_path_factory)


def test_a_misspelled_option_of_validations_is_refused(trained):
    options = ("--arch", "gru_encoder", "--max-update", 1, "--eval-bleu", "--eval-bleu-args")
    done = toy.train(trained / "data", trained / "other", *options, '{"beam": 2, "lenpn": 0}', check=False)
    assert done.returncode and "ValueError: --eval-bleu-args: there is no option 'lenpn', but 'lenpen'" in done.stderr


@pytest.mark.parametrize("command", ["fairseq-generate", "fairseq-interactive", "fairseq-validate"])
def test_a_misspelled_option_of_a_model_is_refused(trained, command):
    path = trained / "save/checkpoint_last.pt"
    model = ("--user-dir", toy.PLUGIN, "--path", path, "--cpu", "--max-tokens", 600, "--model-overrides")
    done = toy.run(command, trained / "data", *model, "{'kernel_backnd': 'packed'}", check=False)
    message = f"ValueError: --model-overrides: {path} has no option 'kernel_backnd', but 'kernel_backend'"
    assert done.returncode and message in done.stderr
    toy.run(command, trained / "data", *model, "{'kernel_backend': 'packed'}")


def test_an_ensemble_is_asked_for_what_one_of_its_models_has(trained):
    path = trained / "save/checkpoint_last.pt"
    done = toy.generate(trained / "data", f"{path}:{path}", "--model-overrides", "{'nowhere': 1}", check=False)
    assert done.returncode and f"--model-overrides: {path}:{path} has no option 'nowhere'\n" in done.stderr
