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
    annotations = torch.tanh(encoder.annotations(hidden) + words)
    return annotations, torch.tanh(encoder.summary.weight @ torch.cat([bottleneck, annotations.mean(dim=0)]))


@every_option
def test_the_vnet_of_a_batch_is_that_of_loops_over_each_sentence(options):
    encoder = VNetEncoder(EMBED, HIDDEN, **options)
    assert_follows(encoder, lambda words: encode_by_loops(encoder, words))


@pytest.mark.parametrize("depth", [1, 2])
def test_gradients_of_the_vnet_are_those_of_finite_differences(depth):
    assert_gradients_are_right(VNetEncoder(EMBED, 2, depth=depth), [5, 1, 3])


@every_option
def test_every_parameter_of_the_vnet_learns(options):
    torch.manual_seed(2)
    assert_every_parameter_learns(VNetEncoder(EMBED, 8, **options))


@pytest.mark.parametrize("depth", [1, 4])
def test_the_vnet_has_the_parameters_of_its_formula(depth):
    width, convolutions = HIDDEN, [1, 1, 2, 3, 3][: depth + 1]
    expected = EMBED * width + width + 2 * width**2 + width + 2 * width**2
    expected += sum(convolutions) * (5 * width**2 + 2 * width)  # weights, biases and slopes
    expected += sum(convolutions[:-1]) * (5 * (2 * width) ** 2 + 2 * 2 * width)
    for level in range(depth):
        raised = width if level == depth - 1 else 2 * width
        expected += 2 * width**2 + 2 * width + 2 * raised * width + 2 * width  # the strided and the transposed one
    # A gain and a bias for the words, and before each PReLU.
    expected += 2 * width + 2 * width * (sum(convolutions) + 2 * sum(convolutions[:-1]) + 2 * depth)
    assert parameter_count(VNetEncoder(EMBED, HIDDEN, depth=depth)) == expected


def test_dropout_at_the_bottom_is_drawn_in_training_only():
    torch.manual_seed(1)
    encoder = VNetEncoder(EMBED, HIDDEN, dropout=0.5)
    arguments = torch.randn(2, 4, EMBED), torch.zeros(2, 4, dtype=torch.bool)
    assert not torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
    encoder.eval()
    assert torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)


def test_a_depth_of_a_vnet_below_one_is_refused_by_name():
    with pytest.raises(ValueError, match="the depth of a V-Net must be at least 1, not 0"):
        VNetEncoder(EMBED, HIDDEN, depth=0)
