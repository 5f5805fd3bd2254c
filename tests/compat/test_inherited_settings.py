"""Configurations of fairseq-hydra-train that inherit from others, composed but not trained."""

import copy

import pytest
from fairseq.dataclass.initialize import hydra_init
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from omegaconf import OmegaConf

FILES = {
    "base": "common: {log_format: simple, seed: 3}\ndataset: {max_tokens: 77}\ntask: {_name: translation}\n"
    "model: {_name: lstm, dropout: 0.3}\noptimization: {lr: [0.5], max_update: 9}\nhydra: {job: {name: base}}\n",
    "data/small": "# @package _global_\ndataset: {max_tokens: 88}\n",
}


@pytest.fixture
def compose(tmp_path, monkeypatch):
    """The configuration that fairseq-hydra-train makes of a file, with others beside it."""
    # They store configurations of their own when they are found.
    Plugins.instance()
    monkeypatch.setattr(ConfigStore.instance(), "repo", copy.deepcopy(ConfigStore.instance().repo))

    def run(files, name):
        for file, text in files.items():
            (tmp_path / f"{file}.yaml").parent.mkdir(exist_ok=True)
            (tmp_path / f"{file}.yaml").write_text(text)
        hydra_init(name)
        with initialize_config_dir(str(tmp_path), version_base="1.1"):
            return OmegaConf.to_container(hydra_compose(name, ["common.cpu=true"]))

    return run


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
def test_what_is_inherited_is_kept(name, content, max_tokens, compose):
    settings = compose({**FILES, name: content}, name)
    assert settings["dataset"]["max_tokens"] == max_tokens
    assert settings["model"] == {"_name": "lstm", "dropout": 0.3} and settings["task"] == {"_name": "translation"}
    assert (settings["optimization"]["lr"], settings["optimization"]["max_update"]) == ([0.5], 9)
    assert (settings["common"]["log_format"], settings["common"]["cpu"]) == ("simple", True)
    assert settings["common"]["seed"] == (3 if "log_interval" in content else 5)
    assert settings["optimization"]["sentence_avg"] is False  # fairseq's own default
    assert "hydra" not in settings


def test_a_setting_that_fairseq_does_not_have_is_still_refused(compose):
    with pytest.raises(ConfigCompositionException, match=r"In 'mine': [^\n]*\nKey 'sed' not in 'CommonConfig'"):
        compose({"base": FILES["base"], "mine": "defaults: [base, _self_]\ncommon: {sed: 5}\n"}, "mine")
