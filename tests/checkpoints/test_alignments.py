"""Weights of batches against those of single pairs."""

import pytest
import torch

from tests.checkpoints.checkpoints import small_checkpoint
from user_dir.checkpoints.alignments import forced_alignments
from user_dir.checkpoints.checkpoint import Checkpoint

SOURCES = ["s1 s2 s3 s4", "s5", "s0 never-seen", "s1 s2 s3 s4 s5 s6"]
TARGETS = ["t1", "t2 t3 t4", "", "t5 never-seen"]


def attention_alone(checkpoint, source, target):
    """The attention of one sentence pair, by the model itself."""
    source_ids, target_ids = (
        dictionary.encode_line(text, add_if_not_exist=False).long()
        for dictionary, text in (
            (checkpoint.task.source_dictionary, source),
            (checkpoint.task.target_dictionary, target),
        )
    )
    previous = target_ids.roll(1)
    with torch.no_grad():
        _, extra = checkpoint.model(source_ids[None], torch.tensor([source_ids.numel()]), previous[None])
    return extra["attn"][0][0]


def test_weights_of_a_batch_are_those_of_each_pair_alone(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder", decoder_attention="additive")
    found = forced_alignments(checkpoint, SOURCES, TARGETS)
    assert [number for number, *_ in found] == [0, 1, 2, 3]
    for (_, read, written, rows), source, target in zip(found, SOURCES, TARGETS):
        assert (read, written) == ([*source.split(), "</s>"], [*target.split(), "</s>"])
        weights = torch.tensor(rows)
        assert weights.shape == (len(written), len(read))
        torch.testing.assert_close(weights, attention_alone(checkpoint, source, target), rtol=0, atol=2e-5)


def test_what_has_no_alignments_is_named(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder", decoder_attention="none")
    with pytest.raises(ValueError, match="has no attention"):
        forced_alignments(checkpoint, SOURCES, TARGETS)
    with pytest.raises(ValueError, match="4 source sentences, but 3 target sentences"):
        forced_alignments(checkpoint, SOURCES, TARGETS[:3])


def test_a_file_that_alignments_need_and_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"there is no checkpoint nowhere\.pt"):
        Checkpoint("nowhere.pt", tmp_path)
    (tmp_path / "checkpoint.pt").touch()
    with pytest.raises(ValueError, match="there is no folder nowhere: it must hold the dictionaries"):
        Checkpoint(tmp_path / "checkpoint.pt", "nowhere")
