"""The published starting values, measured on fresh modules."""

import pytest
import torch

from recurrent_mt.layers.conditioned_gru import ConditionedGRU
from recurrent_mt.layers.grconv import GRConvEncoder
from recurrent_mt.layers.gru import GRUEncoder
from recurrent_mt.layers.hourglass import VNetEncoder
from recurrent_mt.layers.published_initialization import initialize_as_published_
from recurrent_mt.layers.separable_convolution import SeparableConvolutionEncoder
from recurrent_mt.layers.weights import BiasedEmbedding

SIZE = 120


def published(module, **options):
    torch.manual_seed(0)
    initialize_as_published_(module, **options)
    return module


def assert_orthogonal(weight, radius=1.0):
    for block in weight.split(SIZE):
        torch.testing.assert_close(block @ block.t(), radius**2 * torch.eye(SIZE), rtol=0, atol=1e-4)


def assert_normal(weight, deviation):
    assert weight.std().item() == pytest.approx(deviation, rel=0.05)
    assert abs(weight.mean().item()) < 4 * deviation / weight.numel() ** 0.5


@pytest.mark.parametrize("radius", [1.0, 0.4])
def test_a_gru_begins_as_published(radius):
    gru = published(GRUEncoder(50, SIZE, bidirectional=True), spectral_radius=radius).layers[0]
    for direction in gru:
        assert_orthogonal(direction.gate_weight, radius)
        assert_orthogonal(direction.candidate_weight, radius)
        assert_normal(direction.input_weight, 0.01)
        assert direction.bias.eq(0).all()
    assert not torch.equal(gru[0].candidate_weight, gru[1].candidate_weight)


def test_a_grconv_begins_as_published():
    encoder = published(GRConvEncoder(50, SIZE), spectral_radius=0.4)
    assert_orthogonal(encoder.left, 0.4)
    assert_orthogonal(encoder.right, 0.4)
    assert torch.linalg.eigvals(encoder.left).abs().max().item() == pytest.approx(0.4, abs=1e-4)
    for weight in (encoder.leaves.weight, torch.cat([encoder.gate_left, encoder.gate_right])):
        assert_normal(weight, 0.01)
    for bias in (encoder.bias, encoder.gate_bias, encoder.leaves.bias):
        assert bias.eq(0).all()


def test_the_alignment_model_and_the_context_begin_as_published():
    layer = published(ConditionedGRU(50, SIZE, context_size=2 * SIZE, attention="additive"))
    assert_normal(layer.attention.query_weight, 0.001)
    assert_normal(layer.attention.key.weight, 0.001)
    assert layer.attention.score.eq(0).all()
    assert_normal(layer.context_weight, 0.01)
    assert_orthogonal(layer.gru.gate_weight)


def test_embedding_keeps_its_padding_at_zero():
    embedding = published(BiasedEmbedding(300, 50, padding_idx=1))
    assert embedding.weight[1].eq(0).all() and embedding.bias.eq(0).all()
    assert_normal(embedding.weight[2:], 0.01)


def test_gains_and_slopes_keep_their_starting_values():
    encoder = published(SeparableConvolutionEncoder(50, SIZE))
    assert encoder.norm.weight.eq(1).all() and encoder.norm.bias.eq(0).all()
    for step in encoder.modules_of_steps[0].steps:
        assert step.norm.weight.eq(1).all() and step.convolution.pointwise.convolution.bias.eq(0).all()
    assert published(VNetEncoder(50, SIZE)).activations[0].weight.eq(0.25).all()
