"""A model that was trained with a file of pretrained embeddings, which is then gone."""

import ast

import pytest
import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task

from tests.checkpoints.checkpoints import write_checkpoint
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.cli.average import average_checkpoints
from user_dir.cli.factorize import factorize_checkpoint


@pytest.fixture
def trained(tmp_path):
    """A checkpoint whose embeddings are no longer those of the file."""
    vectors = tmp_path / "vectors"
    vectors.write_text("1 6\ns0 1 2 3 4 5 6\n")
    path = write_checkpoint(tmp_path, "gru_encoder", encoder_embed_path=str(vectors))
    state = torch.load(path)
    state["model"]["encoder.embed_tokens.weight"] += 1
    torch.save(state, path)
    vectors.unlink()
    return path, state["model"]["encoder.embed_tokens.weight"]


def test_our_tools_load_the_model_without_it(trained):
    path, embedding = trained
    assert Checkpoint(path, path.parent).model.encoder.embed_tokens.weight.equal(embedding)


def test_what_our_tools_write_loads_in_fairseq(trained):
    path, embedding = trained
    average_checkpoints([path], path.with_name("average.pt"))
    low_rank, _ = factorize_checkpoint(path, path.parent / "low", rank=2)
    for written in (path.with_name("average.pt"), low_rank):
        (loaded,), _, _ = load_model_ensemble_and_task([str(written)])
        assert loaded.encoder.embed_tokens.weight.equal(embedding)


def test_the_option_that_the_error_names_lets_fairseq_load_it(trained):
    path, embedding = trained
    with pytest.raises(FileNotFoundError, match="--model-overrides") as error:
        load_model_ensemble_and_task([str(path)])
    overrides = ast.literal_eval(str(error.value).split('"')[1])
    (loaded,), _, _ = load_model_ensemble_and_task([str(path)], arg_overrides=overrides)
    assert loaded.encoder.embed_tokens.weight.equal(embedding)
