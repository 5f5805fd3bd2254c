"""Configurations of fairseq-hydra-train that inherit from others, composed but not trained."""

import pytest
import yaml

FILES = {
    "base": "common: {log_format: simple, seed: 3}\ndataset: {max_tokens: 77}\ntask: {_name: translation}\n"
    "model: {_name: lstm, dropout: 0.3}\noptimization: {lr: [0.5], max_update: 9}\nhydra: {job: {name: base}}\n",
    "data/small": "# @package _global_\ndataset: {max_tokens: 88}\n",
}


@pytest.mark.parametrize(
    ("name", "content", "max_tokens"),
    [
        ("mine", "defaults: [base, _self_]\ncommon: {seed: 5}\nhydra: {job: {name: mine}}\n", 77),
        ("mine", "defaults: [base, data: small, _self_, override hydra/launcher: basic]\ncommon: {seed: 5}\n", 88),
        ("mine", "defaults: [_self_, base, data: small]\ncommon: {log_interval: 7}\n", 88),
        ("folder/mine", "# @package _global_\ndefaults: [/base, _self_]\ncommon: {seed: 5}\n", 77),
    ],
    ids=["base first", "with a group", "base last", "in a folder"],
)
def test_what_is_inherited_is_kept(name, content, max_tokens, tmp_path, run_in_environment):
    for file, text in {**FILES, name: content}.items():
        (tmp_path / f"{file}.yaml").parent.mkdir(exist_ok=True)
        (tmp_path / f"{file}.yaml").write_text(text)
    line = ("--config-dir", tmp_path, "--config-name", name, "common.cpu=true", "--cfg", "job")
    done = run_in_environment("fairseq-hydra-train", *line, warm=True)
    assert done.returncode == 0, done.stdout
    settings = yaml.safe_load(done.stdout)
    assert settings["dataset"]["max_tokens"] == max_tokens
    assert settings["model"] == {"_name": "lstm", "dropout": 0.3} and settings["task"] == {"_name": "translation"}
    assert (settings["optimization"]["lr"], settings["optimization"]["max_update"]) == ([0.5], 9)
    assert (settings["common"]["log_format"], settings["common"]["cpu"]) == ("simple", True)
    assert settings["common"]["seed"] == (3 if "log_interval" in content else 5)
    assert settings["optimization"]["sentence_avg"] is False  # fairseq's own default
    assert "hydra" not in settings


def test_a_setting_that_fairseq_does_not_have_is_still_refused(tmp_path, run_in_environment):
    (tmp_path / "base.yaml").write_text(FILES["base"])
    (tmp_path / "mine.yaml").write_text("defaults: [base, _self_]\ncommon: {sed: 5}\n")
    done = run_in_environment("fairseq-hydra-train", "--config-dir", tmp_path, "--config-name", "mine", warm=True)
    assert done.returncode and "In 'mine'" in done.stdout and "Key 'sed' not in 'CommonConfig'" in done.stdout
