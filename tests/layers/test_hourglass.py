"""The U-Net and the V-Net against loops over one sentence."""

import pytest
import torch

from recurrent_mt.layers.hourglass import UNetEncoder, VNetEncoder
from tests.layers.one_sentence import (
    EMBED,
    assert_follows,
    assert_gradients_are_right,
    convolve,
    double,
    normalize,
    parameter_count,
)

HIDDEN = 4
OPTIONS = {
    "plain": {},
    "depth_one": {"depth": 1},
    "deep": {"depth": 5},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
both_nets = pytest.mark.parametrize("net", [UNetEncoder, VNetEncoder], ids=["unet", "vnet"])


def pair_by_loops(words, pair):
    for layer in (pair.first, pair.second):
        words = normalize(convolve(words, layer.convolution), layer.norm).relu()
    return words


def pool_by_loops(words):
    return torch.stack([words[place : place + 2].max(dim=0).values for place in range(0, len(words), 2)])


def unet_by_loops(encoder, words):
    words = normalize(encoder.words(words), encoder.norm)
    hidden, skips = words, []
    for pair in encoder.down[:-1]:
        skips.append(pair_by_loops(hidden, pair))
        hidden = pool_by_loops(skips[-1])
    hidden = pair_by_loops(hidden, encoder.down[-1])
    bottleneck = hidden.mean(dim=0)
    for level in reversed(range(len(skips))):
        raised = double(hidden, encoder.upsampling[level].convolution, len(skips[level]))
        hidden = pair_by_loops(torch.cat([skips[level], raised], dim=1), encoder.up[level])
    annotations = torch.tanh(encoder.annotations(hidden) + words)
    return annotations, torch.tanh(encoder.summary.weight @ torch.cat([bottleneck, annotations.mean(dim=0)]))


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


def vnet_by_loops(encoder, words):
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
@both_nets
def test_the_net_of_a_batch_is_that_of_loops_over_each_sentence(net, options):
    encoder, by_loops = net(EMBED, 3, **options), unet_by_loops if net is UNetEncoder else vnet_by_loops
    assert_follows(encoder, lambda words: by_loops(encoder, words))


@pytest.mark.parametrize("depth", [1, 2])
@both_nets
def test_gradients_of_the_net_are_those_of_finite_differences(net, depth):
    assert_gradients_are_right(net(EMBED, 2, depth=depth), [5, 1, 3])


@pytest.mark.parametrize("depth", [1, 3])
def test_the_unet_has_the_parameters_of_its_formula(depth):
    expected = EMBED * HIDDEN + HIDDEN + HIDDEN**2 + HIDDEN + 2 * HIDDEN**2  # the three products
    expected += (depth + 1) * (2 * 3 * HIDDEN**2 + 2 * HIDDEN)  # pairs on the way down and at the bottom
    expected += 2 * HIDDEN + 2 * 2 * (2 * depth + 1) * HIDDEN  # norms of the words and of each convolution of a pair
    expected += depth * (2 * HIDDEN**2 + HIDDEN)  # transposed convolutions
    expected += depth * (3 * 3 * HIDDEN**2 + 2 * HIDDEN)  # pairs on the way up
    assert parameter_count(UNetEncoder(EMBED, HIDDEN, depth=depth)) == expected


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
