"""Gates of batches, and windows of both directions, against single sentences."""

import json

import pytest
import torch

from recurrent_mt.evaluation.structure.gates import gates_of
from recurrent_mt.kernels.dilated_grconv import count_levels, dilated_grconv
from recurrent_mt.kernels.grconv import grconv
from recurrent_mt.layers.grconv import DilatedGRConvEncoder, GRConvEncoder
from tests.checkpoints.checkpoints import small_checkpoint
from tests.kernels.batches import random, within
from tests.models.building import sources
from user_dir.checkpoints.gates import batch_gates, sentence_gates
from user_dir.checkpoints.records import DIGITS, write_json_lines

LENGTHS = [4, 1, 9, 2, 4, 6]


@pytest.fixture
def encoder():
    return build()


def build(layer=None, **options):
    embedding = torch.nn.Embedding(15, 6, padding_idx=1)
    layer = layer or GRConvEncoder(6, 5, **options)
    with torch.no_grad():
        embedding.weight.copy_(random(15, 6))
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(random(*parameter.shape, seed=seed))
    return embedding, layer


def alone(embedding, layer, tokens):
    """The levels of one sentence, by the reference kernel."""
    leaves = layer.leaves(embedding(tokens))
    n = tokens.numel()
    arguments = {"activation": layer.activation, "height": layer.height}
    gates = within("reference", grconv)(leaves, layer.weights(), batch_sizes=[1] * n, **arguments).gates
    levels = range(1, min(n, layer.height + 1) if layer.height else n)
    return [level.tolist() for level in gates.split([n - level for level in levels])] if n > 1 else []


@pytest.mark.parametrize("options", [{}, {"height": 3}, {"height": 20}, {"annotation_height": 2}], ids=str)
@pytest.mark.parametrize("left_pad", [True, False])
def test_gates_of_a_batch_are_those_of_each_sentence_alone(left_pad, options):
    encoder = build(**options)
    tokens = sources(LENGTHS, left_pad=left_pad)["src_tokens"]
    found = list(batch_gates(*encoder, tokens))
    assert [len(levels) for levels in found] == [min(length - 1, options.get("height", 99)) for length in LENGTHS]
    for row, levels in zip(tokens, found):
        expected = alone(*encoder, row[row != 1])
        assert [len(level) for level in levels] == [len(level) for level in expected]
        for level, expected_level in zip(levels, expected):
            torch.testing.assert_close(torch.tensor(level), torch.tensor(expected_level), rtol=0, atol=1e-5)


DILATED = {
    "shared": {},
    "own": {"weight_sets": 3},
    "bounded": {"height": 2},
}


def windows_alone(embedding, layer, tokens):
    """The levels of both directions over one sentence, by the reference kernel."""
    leaves = layer.leaves(embedding(tokens)).chunk(2, dim=1)
    n = tokens.numel()
    counts = [n - 2**level for level in range(count_levels([1] * n, layer.directions[0].height))]
    found = []
    for direction, part in zip(layer.directions, (leaves[0], leaves[1].flip(0))):
        arguments = {"height": direction.height}
        gates = within("reference", dilated_grconv)(part, direction.weights(), batch_sizes=[1] * n, **arguments).gates
        found.append([level.tolist() for level in gates.split(counts)] if counts else [])
    # The other way round, left and right change places.
    forward, backward = found
    return [forward, [[[new, left, right] for new, right, left in level[::-1]] for level in backward]]


@pytest.mark.parametrize("options", DILATED.values(), ids=DILATED)
@pytest.mark.parametrize("left_pad", [True, False])
def test_windows_of_a_batch_are_those_of_each_sentence_alone(left_pad, options):
    embedding, layer = build(DilatedGRConvEncoder(6, 10, **options))
    tokens = sources(LENGTHS, left_pad=left_pad)["src_tokens"]
    found = list(batch_gates(embedding, layer, tokens))
    assert len(found) == len(LENGTHS)
    for row, directions in zip(tokens, found):
        for levels, expected in zip(directions, windows_alone(embedding, layer, row[row != 1])):
            assert [len(level) for level in levels] == [len(level) for level in expected]
            for level, expected_level in zip(levels, expected):
                torch.testing.assert_close(torch.tensor(level), torch.tensor(expected_level), rtol=0, atol=1e-5)


def test_gates_of_a_dilated_checkpoint_are_windows(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder", grconv_dilated=True, encoder_hidden_size=6)
    found = sentence_gates(checkpoint, ["s1 s2 s3 s4", "", "s5"])
    for record, counts in zip(found, ([4, 3, 1], [], [1])):
        windows = gates_of(record)
        assert windows.leaves == tuple(record["source"]) and windows.leaves[-1] == "</s>"
        assert [len(level) for level in windows.forward] == [len(level) for level in windows.backward] == counts


def test_gates_differ_between_nodes(encoder):
    (levels,) = batch_gates(*encoder, sources([6])["src_tokens"])
    assert len({tuple(node) for level in levels for node in level}) == 15


def test_gates_of_a_checkpoint_come_in_the_order_of_the_sentences(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder")
    sentences = ["s1 s2 s3 s4", "", "s5", "s0 never-seen", "s1 s2 s3 s4 s5 s6", "<pad> s1 <pad>"]
    found = sentence_gates(checkpoint, sentences, max_tokens=10)
    assert [record["sentence"] for record in found] == [0, 1, 2, 3, 4, 5]
    assert [record["source"] for record in found] == [[*text.split(), "</s>"] for text in sentences]
    assert [[len(level) for level in record["gates"]] for record in found] == [
        [4, 3, 2, 1],
        [],
        [1],
        [2, 1],
        [6, 5, 4, 3, 2, 1],
        [3, 2, 1],
    ]
    for text, record in zip(sentences, found):
        encoder = checkpoint.model.encoder
        tokens = encoder.dictionary.encode_line(text, add_if_not_exist=False).long()
        with torch.no_grad():
            expected = alone(encoder.embed_tokens, encoder.layer, tokens)
        for level, expected_level in zip(record["gates"], expected):
            torch.testing.assert_close(torch.tensor(level), torch.tensor(expected_level), rtol=0, atol=1e-5)
            assert all(round(gate, DIGITS) == gate for node in level for gate in node)


def test_only_grconv_has_gates(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder")
    with pytest.raises(ValueError, match=r"checkpoint\.pt is not a grconv_encoder"):
        sentence_gates(checkpoint, ["s1"])


def test_a_sentence_too_long_is_named(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder")
    with pytest.raises(ValueError, match=r"source sentence 1 has 71 tokens, </s> included; .* takes 64"):
        sentence_gates(checkpoint, ["s1", "s1 " * 70])


def test_a_sentence_longer_than_a_batch_is_a_batch(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder")
    sentences = ["s1", "s1 " * 11, "s2"]
    assert sentence_gates(checkpoint, sentences, max_tokens=10) == sentence_gates(checkpoint, sentences)


def test_no_sentences_have_no_gates(tmp_path):
    assert sentence_gates(small_checkpoint(tmp_path, "grconv_encoder"), []) == []


def test_json_lines_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "gates.jsonl"
    write_json_lines(path, [{"source": ["été", "中国"]}, {"source": []}])
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [
        {"source": ["été", "中国"]},
        {"source": []},
    ]
    assert "été" in path.read_text("utf-8")

    def breaking():
        yield {"source": []}
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        write_json_lines(tmp_path / "other.jsonl", breaking())
    assert not (tmp_path / "other.jsonl").exists()
