"""The U-Net and the V-Net against loops over one sentence."""

from itertools import pairwise

import pytest
import torch

from recurrent_mt.layers.hourglass import UNetEncoder, VNetEncoder
from tests.layers.one_sentence import (
    EMBED,
    assert_every_parameter_learns,
    assert_follows,
    assert_gradients_are_right,
    convolve,
    double,
    normalize,
    parameter_count,
    randomized,
)

HIDDEN = 4
OPTIONS = {
    "plain": {},
    "depth_one": {"depth": 1},
    "deep": {"depth": 5},
    "growth": {"depth": 2, "growth": 2},
    "no_layer_norm": {"layer_norm": False},
    "as_published": {"layer_norm": False, "word_residual": False},
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
    annotations = torch.tanh(encoder.annotations(hidden) + (words if encoder.word_residual else 0))
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
    annotations = torch.tanh(encoder.annotations(hidden) + (words if encoder.word_residual else 0))
    return annotations, torch.tanh(encoder.summary.weight @ torch.cat([bottleneck, annotations.mean(dim=0)]))


@every_option
@both_nets
def test_the_net_of_a_batch_is_that_of_loops_over_each_sentence(net, options):
    encoder, by_loops = net(EMBED, 3, **options), unet_by_loops if net is UNetEncoder else vnet_by_loops
    assert_follows(encoder, lambda words: by_loops(encoder, words))


@pytest.mark.parametrize("options", [{"depth": 1}, OPTIONS["growth"], {"depth": 2, **OPTIONS["as_published"]}], ids=str)
@both_nets
def test_gradients_of_the_net_are_those_of_finite_differences(net, options):
    assert_gradients_are_right(net(EMBED, 2, **options), [5, 1, 3])


@every_option
@both_nets
def test_every_parameter_of_the_net_learns(net, options):
    torch.manual_seed(2)
    assert_every_parameter_learns(net(EMBED, 8, **options))


@pytest.mark.parametrize(("depth", "growth"), [(1, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("layer_norm", [False, True])
def test_the_unet_has_the_parameters_of_its_formula(depth, growth, layer_norm):
    widths = [HIDDEN * growth**level for level in range(depth + 1)]
    expected = EMBED * HIDDEN + HIDDEN + HIDDEN**2 + HIDDEN + (widths[-1] + HIDDEN) * HIDDEN  # the three products
    for before, width in zip([HIDDEN, *widths], widths):  # pairs on the way down and at the bottom
        expected += 3 * before * width + 3 * width**2 + 2 * width
    if layer_norm:  # a gain and a bias for the words, and for each convolution of a pair
        expected += 2 * HIDDEN + 2 * 2 * (sum(widths) + sum(widths[:-1]))
    for width, below in pairwise(widths):
        expected += 2 * below * width + width  # transposed convolution
        expected += 3 * 2 * width * width + 3 * width**2 + 2 * width  # pair on the way up
    encoder = UNetEncoder(EMBED, HIDDEN, depth=depth, growth=growth, layer_norm=layer_norm)
    assert parameter_count(encoder) == expected


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


def test_a_word_reaches_the_other_end_of_the_sentence_through_the_bottleneck():
    encoder = randomized(UNetEncoder(EMBED, HIDDEN, depth=4))
    words = torch.randn(1, 32, EMBED, dtype=torch.float64, requires_grad=True)
    annotations = encoder(words, torch.zeros(1, 32, dtype=torch.bool)).annotations
    (gradient,) = torch.autograd.grad(annotations[0, -1].sum(), words)
    assert gradient[0, 0].any()


@both_nets
def test_dropout_at_the_bottom_is_drawn_in_training_only(net):
    torch.manual_seed(1)
    encoder = net(EMBED, HIDDEN, dropout=0.5)
    arguments = torch.randn(2, 4, EMBED), torch.zeros(2, 4, dtype=torch.bool)
    assert not torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
    encoder.eval()
    assert torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)


@pytest.mark.parametrize(("depth", "growth"), [(0, 1), (2, 0)])
@both_nets
def test_sizes_of_a_net_below_one_are_refused_by_name(net, depth, growth):
    with pytest.raises(ValueError, match=f"of a {net.__name__[0]}-Net must be at least 1, not {depth} and {growth}"):
        net(EMBED, HIDDEN, depth=depth, growth=growth)
