"""Operations counted by hand."""

import pytest
import torch
from fairseq.models import MODEL_DATACLASS_REGISTRY
from torch.utils.flop_counter import FlopCounterMode

from recurrent_mt.layers.gru import GRUEncoder
from recurrent_mt.layers.hourglass import UNetEncoder, VNetEncoder
from tests.checkpoints.checkpoints import small_checkpoint
from tests.kernels.batches import within
from user_dir.cli.count_operations import FORMULAS, count_operations

#: Sizes of tests/models/building.py: words of each language with the four symbols, embeddings, states, readout.
V, E, H, F, G, READOUT = 17, 6, 5, 8, 10, 7
ENCODER = 3 * H * E + 2 * H * H + H * H
DECODER = 3 * G * F + 2 * G * G + G * G + 2 * READOUT * (G + F) + V * READOUT
#: The context enters gates, candidate and readout; without attention once a sentence, as for the first state.
CONTEXT = 3 * G * H + 2 * READOUT * H
FIRST = G * H


@pytest.mark.parametrize(("source", "target"), [(1, 1), (4, 2)])
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


def counted(run):
    counter = FlopCounterMode(display=False, custom_mapping=FORMULAS)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), counter:
        run()
    return counter.get_total_flops()


def test_what_torch_does_not_count_is_counted():
    """Products inside of a fused LSTM, attention of several heads, and the convolutions of fairseq's fconv."""
    lstm, rows = torch.nn.LSTM(E, H, batch_first=True), torch.zeros(1, 3, E)
    assert counted(lambda: lstm(rows)) == 2 * 3 * 4 * H * (E + H)
    query, memory = torch.zeros(1, 2, 3, 8), torch.zeros(1, 2, 5, 8)
    attend = torch.nn.functional.scaled_dot_product_attention
    assert counted(lambda: attend(query, memory, memory)) == 2 * (2 * 3 * 5 * 8) * 2
    rows, weights, bias = torch.zeros(7, 1, 4), torch.zeros(3, 4, 10), torch.zeros(10)
    assert counted(lambda: torch.conv_tbc(rows, weights, bias, 1)) == 2 * 7 * 3 * 4 * 10


def test_operations_of_no_pairs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there are no sentences"):
        count_operations(small_checkpoint(tmp_path, "gru_encoder"), [], [])


@pytest.mark.parametrize(("network", "encoder"), [("unet", UNetEncoder), ("vnet", VNetEncoder)])
def test_the_help_says_what_a_word_costs_an_hourglass_in_gru_layers(network, encoder):
    embedded, padding = torch.zeros(1, 64, 16), torch.zeros(1, 64, dtype=torch.bool)
    layers = [within("packed", layer) for layer in (encoder(16, 16), GRUEncoder(16, 16))]
    counts = [counted(lambda layer=layer: layer(embedded, padding)) for layer in layers]
    config = MODEL_DATACLASS_REGISTRY[f"{network}_encoder"]
    text = config.__dataclass_fields__[f"{network}_depth"].metadata["help"]
    assert f"a word costs {round(counts[0] / counts[1])} times what it costs a GRU" in text
