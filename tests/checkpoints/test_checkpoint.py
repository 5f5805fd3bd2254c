"""A file that is not a checkpoint, or would run code, gives an error that names it; the tools print it as one line."""

import os
from argparse import Namespace

import pytest
import torch
from fairseq import checkpoint_utils

from tests.checkpoints.checkpoints import write_checkpoint
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.cli.factorize import factorize_checkpoint


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.fixture
def folder(tmp_path):
    write_checkpoint(tmp_path, "gru_encoder")
    return tmp_path


def damage(path, kind):
    content = path.read_bytes()
    if kind == "malicious":
        torch.save({"model": {}, "args": Payload(path.with_name("made"))}, path)
    else:
        path.write_bytes({"cut off": content[: len(content) // 2], "text": b"not a model\n", "empty": b""}[kind])


@pytest.mark.parametrize("kind", ["malicious", "cut off", "text", "empty"])
def test_a_file_that_is_no_checkpoint_is_named_and_not_run(folder, kind):
    path = folder / "checkpoint.pt"
    damage(path, kind)
    with pytest.raises(ValueError, match=rf"checkpoint\.pt cannot be loaded with the dictionaries of {folder}: \S+"):
        Checkpoint(path, folder)
    with pytest.raises(ValueError, match=r"checkpoint\.pt cannot be loaded: it (is no checkpoint|holds)"):
        factorize_checkpoint(path, folder / "low", rank=2)
    assert not (folder / "made").exists() and not (folder / "low").exists()


def test_dictionaries_of_another_size_are_said_to_be_that(folder):
    with (folder / "dict.tgt.txt").open("a") as file:
        file.write("one-more 1\n")
    with pytest.raises(ValueError, match=r"size mismatch for decoder\.embed_tokens\.weight: .*[^\n]$"):
        Checkpoint(folder / "checkpoint.pt", folder)


def test_a_model_whose_sentences_begin_with_tags_of_languages_is_refused(folder, monkeypatch):
    path = next(folder.glob("*.pt"))
    load = checkpoint_utils.load_model_ensemble_and_task

    def load_as_multilingual(*args, **kwargs):
        models, config, task = load(*args, **kwargs)
        task.args = Namespace(lang_tok_replacing_bos_eos=True)
        return models, config, task

    monkeypatch.setattr(checkpoint_utils, "load_model_ensemble_and_task", load_as_multilingual)
    with pytest.raises(ValueError, match="its sentences begin and end with tags of languages"):
        Checkpoint(path, folder)
