"""The V-Net against loops over one sentence."""

import pytest
import torch

from recurrent_mt.layers.hourglass import VNetEncoder
from tests.layers.one_sentence import (
    EMBED,
    assert_every_parameter_learns,
    assert_follows,
    assert_gradients_are_right,
    convolve,
    double,
    normalize,
    parameter_count,
)

HIDDEN = 3
OPTIONS = {
    "plain": {},
    "depth_one": {"depth": 1},
    "deep": {"depth": 5},
    "growth": {"depth": 2, "growth": 2},
    "no_layer_norm": {"layer_norm": False},
    "as_published": {"layer_norm": False, "word_residual": False},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def prelu(words, layer):
    return torch.where(words > 0, words, layer.weight * words)


def stage_by_loops(words, stage):
    hidden = words
    for convolution, norm, activation in list(zip(stage.convolutions, stage.norms, stage.activations))[:-1]:
        hidden = prelu(normalize(convolve(hidden, convolution.convolution), norm), activation)
    summed = convolve(hidden, stage.convolutions[-1].convolution) + words
    return prelu(normalize(summed, stage.norms[-1]), stage.activations[-1])


def halve(words, layer):
    """The strided convolution; a zero stands beside a last word without a partner."""
    weight, rows = layer.convolution.weight, []
    for place in range(0, len(words), 2):
        row = layer.convolution.bias + weight[:, :, 0] @ words[place]
        if place + 1 < len(words):
            row = row + weight[:, :, 1] @ words[place + 1]
        rows.append(row)
    return prelu(normalize(torch.stack(rows), layer.norm), layer.activation)


def encode_by_loops(encoder, words):
    words = normalize(encoder.words(words), encoder.norm)
    skips = [stage_by_loops(words, encoder.down[0])]
    for downsampling, stage in zip(encoder.downsampling, encoder.down[1:]):
        skips.append(stage_by_loops(halve(skips[-1], downsampling), stage))
    hidden = skips.pop()
    bottleneck = hidden.mean(dim=0)
    for level in reversed(range(len(skips))):
        raised = double(hidden, encoder.upsampling[level].convolution, len(skips[level]))
        raised = prelu(normalize(raised, encoder.norms[level]), encoder.activations[level])
        hidden = stage_by_loops(torch.cat([raised, skips[level]], dim=1), encoder.up[level])
    annotations = torch.tanh(encoder.annotations(hidden) + (words if encoder.word_residual else 0))
    return annotations, torch.tanh(encoder.summary.weight @ torch.cat([bottleneck, annotations.mean(dim=0)]))


@every_option
def test_the_vnet_of_a_batch_is_that_of_loops_over_each_sentence(options):
    encoder = VNetEncoder(EMBED, HIDDEN, **options)
    assert_follows(encoder, lambda words: encode_by_loops(encoder, words))


@pytest.mark.parametrize("options", [OPTIONS["depth_one"], OPTIONS["growth"]], ids=["depth_one", "growth"])
def test_gradients_of_the_vnet_are_those_of_finite_differences(options):
    assert_gradients_are_right(VNetEncoder(EMBED, 2, **options), [5, 1, 3])


@every_option
def test_every_parameter_of_the_vnet_learns(options):
    torch.manual_seed(2)
    assert_every_parameter_learns(VNetEncoder(EMBED, 8, **options))


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize(("depth", "growth"), [(1, 1), (4, 1), (3, 2)])
def test_the_vnet_has_the_parameters_of_its_formula(depth, growth, layer_norm):
    widths = [HIDDEN * growth**level for level in range(depth + 1)]
    convolutions = [1, 1, 2, 3, 3][: depth + 1]
    expected = EMBED * HIDDEN + HIDDEN + 2 * HIDDEN * HIDDEN + HIDDEN + (widths[-1] + HIDDEN) * HIDDEN
    for width, count in zip(widths, convolutions):
        expected += count * (5 * width**2 + 2 * width)  # weights, biases and slopes
    for level in range(depth):
        width, below = widths[level], widths[level + 1]
        raised = below if level == depth - 1 else 2 * below
        expected += 2 * width * below + 2 * below + 2 * raised * width + 2 * width  # the strided and the transposed one
        expected += convolutions[level] * (5 * (2 * width) ** 2 + 2 * 2 * width)
    if layer_norm:  # a gain and a bias for the words, and before each PReLU
        stages = sum(
            count * (width + 2 * width * (level < depth))
            for level, (width, count) in enumerate(zip(widths, convolutions))
        )
        expected += 2 * HIDDEN + 2 * (stages + sum(widths[1:]) + sum(widths[:-1]))
    encoder = VNetEncoder(EMBED, HIDDEN, depth=depth, growth=growth, layer_norm=layer_norm)
    assert parameter_count(encoder) == expected


def test_dropout_at_the_bottom_is_drawn_in_training_only():
    torch.manual_seed(1)
    encoder = VNetEncoder(EMBED, HIDDEN, dropout=0.5)
    arguments = torch.randn(2, 4, EMBED), torch.zeros(2, 4, dtype=torch.bool)
    assert not torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
    encoder.eval()
    assert torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)


@pytest.mark.parametrize(("depth", "growth"), [(0, 1), (2, 0)])
def test_sizes_of_a_vnet_below_one_are_refused_by_name(depth, growth):
    with pytest.raises(ValueError, match=f"of a V-Net must be at least 1, not {depth} and {growth}"):
        VNetEncoder(EMBED, HIDDEN, depth=depth, growth=growth)
