"""Gates of batches, and windows of both directions, against single sentences."""

import pytest
import torch

from recurrent_mt.evaluation.structure.gates import gates_of
from recurrent_mt.kernels.dilated_grconv import count_levels, dilated_grconv
from recurrent_mt.kernels.grconv import grconv
from recurrent_mt.layers.grconv import DilatedGRConvEncoder, GRConvEncoder
from tests.checkpoints.checkpoints import small_checkpoint
from tests.kernels.batches import random, within
from tests.models.building import sources
from user_dir.checkpoints.checkpoint import DIGITS
from user_dir.checkpoints.gates import batch_gates, sentence_gates

LENGTHS = [4, 1, 9, 2, 4, 6]


def build(layer):
    embedding = torch.nn.Embedding(15, 6, padding_idx=1)
    with torch.no_grad():
        embedding.weight.copy_(random(15, 6))
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(random(*parameter.shape, seed=seed))
    return embedding, layer


def alone(embedding, layer, tokens):
    """The levels of one sentence, or of both directions over it, by the reference kernel."""
    leaves, ones = layer.leaves(embedding(tokens)), [1] * tokens.numel()
    if isinstance(layer, GRConvEncoder):
        run, options = within("reference", grconv), {"activation": layer.activation, "height": layer.height}
        distances = range(1, min(len(ones), layer.height + 1) if layer.height else len(ones))
        return [split(run(leaves, layer.weights(), batch_sizes=ones, **options).gates, len(ones), distances)]
    found, run = [], within("reference", dilated_grconv)
    for direction, part in zip(layer.directions, (leaves[:, :5], leaves[:, 5:].flip(0))):
        distances = [2**level for level in range(count_levels(ones, direction.height))]
        gates = run(part, direction.weights(), batch_sizes=ones, height=direction.height).gates
        found.append(split(gates, len(ones), distances))
    # The other way round, left and right change places.
    forward, backward = found
    return [forward, [[[new, left, right] for new, right, left in level[::-1]] for level in backward]]


def split(gates, leaves, distances):
    counts = [leaves - distance for distance in distances]
    return [level.tolist() for level in gates.split(counts)] if counts else []


LAYERS = {
    "plain": GRConvEncoder(6, 5),
    "bounded": GRConvEncoder(6, 5, height=3),
    "pyramid": GRConvEncoder(6, 5, annotation_height=2),
    "dilated": DilatedGRConvEncoder(6, 10),
    "dilated, own weights": DilatedGRConvEncoder(6, 10, weight_sets=3),
    "dilated, bounded": DilatedGRConvEncoder(6, 10, height=2),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("left_pad", [True, False])
def test_gates_of_a_batch_are_those_of_each_sentence_alone(left_pad, name):
    embedding, layer = build(LAYERS[name])
    tokens = sources(LENGTHS, left_pad=left_pad)["src_tokens"]
    found = list(batch_gates(embedding, layer, tokens))
    for row, gates in zip(tokens, found, strict=True):
        directions = [gates] if isinstance(layer, GRConvEncoder) else gates
        for levels, others in zip(directions, alone(embedding, layer, row[row != 1]), strict=True):
            for level, other in zip(levels, others, strict=True):
                torch.testing.assert_close(torch.tensor(level), torch.tensor(other), rtol=0, atol=1e-5)


def test_gates_of_a_dilated_checkpoint_are_windows(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder", grconv_dilated=True, encoder_hidden_size=6)
    found = sentence_gates(checkpoint, ["s1 s2 s3 s4", "", "s5"])
    for record, counts in zip(found, ([4, 3, 1], [], [1])):
        windows = gates_of(record)
        assert windows.leaves == tuple(record["source"]) and windows.leaves[-1] == "</s>"
        assert [len(level) for level in windows.forward] == [len(level) for level in windows.backward] == counts


def test_gates_of_a_checkpoint_come_in_the_order_of_the_sentences(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder")
    sentences = ["s1 s2 s3 s4", "", "s5", "s0 never-seen", "s1 s2 s3 s4 s5 s6", "<pad> s1 <pad>"]
    found = sentence_gates(checkpoint, sentences, max_tokens=10)
    assert found == sentence_gates(checkpoint, sentences) and sentence_gates(checkpoint, []) == []
    assert [record["sentence"] for record in found] == [0, 1, 2, 3, 4, 5]
    assert [record["source"] for record in found] == [[*text.split(), "</s>"] for text in sentences]
    assert [len(record["gates"]) for record in found] == [4, 0, 1, 2, 6, 3]
    for text, record in zip(sentences, found):
        encoder = checkpoint.model.encoder
        tokens = encoder.dictionary.encode_line(text, add_if_not_exist=False).long()
        with torch.no_grad():
            (expected,) = alone(encoder.embed_tokens, encoder.layer, tokens)
        for level, expected_level in zip(record["gates"], expected, strict=True):
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
