import json
from itertools import combinations

import pytest
import torch
from fairseq.models import MODEL_DATACLASS_REGISTRY
from torch.utils.flop_counter import FlopCounterMode

from recurrent_mt.evaluation.structure.gates import gates_of
from recurrent_mt.kernels.dilated_grconv import count_levels, dilated_grconv
from recurrent_mt.kernels.grconv import grconv
from recurrent_mt.layers.grconv import DilatedGRConvEncoder, GRConvEncoder
from recurrent_mt.layers.gru import GRUEncoder
from recurrent_mt.layers.hourglass import UNetEncoder, VNetEncoder
from tests.checkpoints.checkpoints import small_checkpoint
from tests.commands import call
from tests.kernels.batches import random, within
from tests.models.building import sources
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.checkpoints.inspection import (
    DIGITS,
    FORMULAS,
    batch_gates,
    count_operations,
    forced_alignments,
    sentence_gates,
)
from user_dir.cli.inspection import write_json_lines

LENGTHS = [4, 1, 9, 2, 4, 6]
SOURCES = ["s1 s2 s3 s4", "s5", "s0 never-seen", "s1 s2 s3 s4 s5 s6"]
TARGETS = ["t1", "t2 t3 t4", "", "t5 never-seen"]
#: Sizes of tests/models/building.py: words of each language with the four symbols, embeddings, states, readout.
V, E, H, F, G, READOUT = 17, 6, 5, 8, 10, 7
ENCODER = 3 * H * E + 2 * H * H + H * H
DECODER = 3 * G * F + 2 * G * G + G * G + 2 * READOUT * (G + F) + V * READOUT
#: The context enters gates, candidate and readout; without attention once a sentence, as for the first state.
CONTEXT = 3 * G * H + 2 * READOUT * H
FIRST = G * H


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
        run = within("reference", dilated_grconv)
        gates = run(part, direction.weights(), batch_sizes=[1] * n, height=direction.height).gates
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


@pytest.mark.parametrize("architecture", ["gru_encoder", "grconv_encoder"])
def test_weights_of_a_batch_are_those_of_each_pair_alone(tmp_path, architecture):
    checkpoint = small_checkpoint(tmp_path, architecture, decoder_attention="additive")
    found = forced_alignments(checkpoint, SOURCES, TARGETS)
    assert [record["sentence"] for record in found] == [0, 1, 2, 3]
    for record, source, target in zip(found, SOURCES, TARGETS):
        assert record["source"] == [*source.split(), "</s>"]
        assert record["target"] == [*target.split(), "</s>"]
        weights = torch.tensor(record["weights"])
        assert weights.shape == (len(record["target"]), len(record["source"]))
        torch.testing.assert_close(weights, attention_alone(checkpoint, source, target), rtol=0, atol=2e-5)


def attentions_alone(checkpoint, source, target):
    """The attention of one sentence pair over tokens, and over leaves and phrases."""
    model, task = checkpoint.model, checkpoint.task
    source_ids = task.source_dictionary.encode_line(source, add_if_not_exist=False).long()[None]
    target_ids = task.target_dictionary.encode_line(target, add_if_not_exist=False).long()[None]
    with torch.no_grad():
        encoded = model.encoder(source_ids)
        found = (model.decoder(target_ids.roll(1), one) for one in (encoded, encoded._replace(coverage=None)))
        return [extra["attn"][0][0] for _, extra in found]


def test_attention_over_phrases_of_a_batch_is_that_of_each_pair_alone(tmp_path):
    pyramid = {"grconv_annotations": "pyramid", "grconv_annotation_height": 6}
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder", decoder_attention="additive", **pyramid)
    found = sentence_gates(checkpoint, SOURCES, TARGETS)
    for record, source, target in zip(found, SOURCES, TARGETS):
        leaves, words = len(source.split()) + 1, len(target.split())
        assert [len(level) for level in record["attention"]] == list(range(leaves - 1, 0, -1))
        read = gates_of(record).attention
        # A translation's alignment spreads each phrase's attention over its tokens.
        over_tokens, raw = (
            attention[:words].sum(dim=0).double() for attention in attentions_alone(checkpoint, source, target)
        )
        spread = raw[:leaves]
        for first, last in combinations(range(leaves), 2):
            spread[first : last + 1] += read[first, last] / (last - first + 1)
        torch.testing.assert_close(spread, over_tokens)
    assert found[3]["attention"] != found[0]["attention"]
    (alone,) = sentence_gates(checkpoint, SOURCES[3:], TARGETS[3:])
    torch.testing.assert_close(*(torch.tensor(gates_of(one).attention) for one in (alone, found[3])))


def test_attention_over_some_phrases_makes_no_tree(tmp_path):
    pyramid = {"grconv_annotations": "pyramid", "grconv_annotation_height": 2}
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder", decoder_attention="additive", **pyramid)
    with pytest.raises(ValueError, match=r"-height 2: over sentence 0 of 5 tokens, .* not read all phrases"):
        sentence_gates(checkpoint, SOURCES, TARGETS)
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder", decoder_attention="additive")
    with pytest.raises(ValueError, match="has no attention over phrases: train with --grconv-annotations pyramid"):
        sentence_gates(checkpoint, SOURCES, TARGETS)


def test_a_model_without_attention_has_no_alignments(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder", decoder_attention="none")
    with pytest.raises(ValueError, match="has no attention"):
        forced_alignments(checkpoint, SOURCES, TARGETS)


def test_alignments_need_as_many_targets_as_sources(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder", decoder_attention="additive")
    with pytest.raises(ValueError, match="4 source sentences, but 3 target sentences"):
        forced_alignments(checkpoint, SOURCES, TARGETS[:3])


def test_a_file_that_alignments_need_and_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"there is no checkpoint nowhere\.pt"):
        Checkpoint("nowhere.pt", tmp_path)
    (tmp_path / "checkpoint.pt").touch()
    with pytest.raises(ValueError, match="there is no folder nowhere: it must hold the dictionaries"):
        Checkpoint(tmp_path / "checkpoint.pt", "nowhere")


@pytest.mark.parametrize(("source", "target"), [(1, 1), (4, 2), (3, 6)])
def test_operations_of_a_fixed_vector_are_those_counted_by_hand(tmp_path, source, target):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder", decoder_attention="none")
    counted = count_operations(checkpoint, ["s0 " * source], ["t1 " * target])
    assert counted.target_tokens == target + 1
    expected = (source + 1) * ENCODER + (target + 1) * DECODER + CONTEXT + FIRST
    assert counted.total == 2 * expected
    assert counted.per_token == 2 * expected / (target + 1)


def test_operations_of_additive_attention_are_those_counted_by_hand(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder", decoder_attention="additive")
    counted = count_operations(checkpoint, ["s0 s1 s2"], ["t1 t2"])
    s, t, a = 4, 3, G
    keys, query, scores, weighted_sum = s * H * a, t * G * a, t * s * a, t * s * H
    expected = s * ENCODER + t * (DECODER + CONTEXT) + FIRST + keys + query + scores + weighted_sum
    assert counted.total == 2 * expected


def test_operations_of_a_corpus_are_the_sum_of_its_pairs(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "grconv_encoder")
    sources, targets = ["s0", "s1 s2 s3 s4 s5"], ["t0 t1 t2 t3", "t0"]
    both = count_operations(checkpoint, sources, targets)
    alone = [count_operations(checkpoint, [source], [target]) for source, target in zip(sources, targets)]
    assert both.total == sum(one.total for one in alone)
    assert (both.sentences, both.target_tokens) == (2, 7)


def test_products_inside_a_fused_lstm_are_counted():
    lstm, rows = torch.nn.LSTM(E, H, batch_first=True), torch.zeros(1, 3, E)
    counter = FlopCounterMode(display=False, custom_mapping=FORMULAS)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), counter:
        lstm(rows)
    assert counter.get_total_flops() == 2 * 3 * 4 * H * (E + H)


def test_attention_of_several_heads_is_counted():
    query, key, value = torch.zeros(1, 2, 3, 8), torch.zeros(1, 2, 5, 8), torch.zeros(1, 2, 5, 8)
    with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
        torch.nn.functional.scaled_dot_product_attention(query, key, value)
    assert counter.get_total_flops() == 2 * (2 * 3 * 5 * 8) * 2


def test_convolutions_of_fairseqs_fconv_are_counted():
    rows, weights, bias = torch.zeros(7, 1, 4), torch.zeros(3, 4, 10), torch.zeros(10)
    with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
        torch.conv_tbc(rows, weights, bias, 1)
    assert counter.get_total_flops() == 2 * 7 * 3 * 4 * 10


def test_operations_of_no_pairs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there are no sentences"):
        count_operations(small_checkpoint(tmp_path, "gru_encoder"), [], [])


def test_a_missing_checkpoint_is_named(tmp_path):
    result = call("count-operations", "--checkpoint", tmp_path / "no.pt", "--data", tmp_path)
    assert result.returncode == 1 and "error: there is no checkpoint" in result.stderr


@pytest.mark.parametrize(("network", "encoder"), [("unet", UNetEncoder), ("vnet", VNetEncoder)])
def test_the_help_says_what_a_word_costs_an_hourglass_in_gru_layers(network, encoder):
    embedded, padding = torch.zeros(1, 64, 16), torch.zeros(1, 64, dtype=torch.bool)
    counts = []
    for layer in (encoder(16, 16), GRUEncoder(16, 16)):
        with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
            within("packed", layer)(embedded, padding)
        counts.append(counter.get_total_flops())
    config = MODEL_DATACLASS_REGISTRY[f"{network}_encoder"]
    text = config.__dataclass_fields__[f"{network}_depth"].metadata["help"]
    assert f"a word costs {round(counts[0] / counts[1])} times what it costs a GRU" in text
