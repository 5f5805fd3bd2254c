"""The U-Net against loops over one sentence."""

import pytest
import torch

from recurrent_mt.layers.hourglass import UNetEncoder
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
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def pair_by_loops(words, pair):
    for layer in (pair.first, pair.second):
        words = normalize(convolve(words, layer.convolution), layer.norm).relu()
    return words


def pool_by_loops(words):
    return torch.stack([words[place : place + 2].max(dim=0).values for place in range(0, len(words), 2)])


def encode_by_loops(encoder, words):
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


@every_option
def test_the_unet_of_a_batch_is_that_of_loops_over_each_sentence(options):
    encoder = UNetEncoder(EMBED, HIDDEN, **options)
    assert_follows(encoder, lambda words: encode_by_loops(encoder, words))


@every_option
def test_gradients_of_the_unet_are_those_of_finite_differences(options):
    assert_gradients_are_right(UNetEncoder(EMBED, HIDDEN, **options), [5, 1, 7])


@every_option
def test_every_parameter_of_the_unet_learns(options):
    torch.manual_seed(2)
    assert_every_parameter_learns(UNetEncoder(EMBED, 8, **options))


@pytest.mark.parametrize("depth", [1, 3])
def test_the_unet_has_the_parameters_of_its_formula(depth):
    expected = EMBED * HIDDEN + HIDDEN + HIDDEN**2 + HIDDEN + 2 * HIDDEN**2  # the three products
    expected += (depth + 1) * (2 * 3 * HIDDEN**2 + 2 * HIDDEN)  # pairs on the way down and at the bottom
    expected += 2 * HIDDEN + 2 * 2 * (2 * depth + 1) * HIDDEN  # norms of the words and of each convolution of a pair
    expected += depth * (2 * HIDDEN**2 + HIDDEN)  # transposed convolutions
    expected += depth * (3 * 3 * HIDDEN**2 + 2 * HIDDEN)  # pairs on the way up
    assert parameter_count(UNetEncoder(EMBED, HIDDEN, depth=depth)) == expected


def test_a_word_reaches_the_other_end_of_the_sentence_through_the_bottleneck():
    encoder = randomized(UNetEncoder(EMBED, HIDDEN, depth=4))
    words = torch.randn(1, 32, EMBED, dtype=torch.float64, requires_grad=True)
    annotations = encoder(words, torch.zeros(1, 32, dtype=torch.bool)).annotations
    (gradient,) = torch.autograd.grad(annotations[0, -1].sum(), words)
    assert gradient[0, 0].any()


def test_dropout_at_the_bottom_is_drawn_in_training_only():
    torch.manual_seed(1)
    encoder = UNetEncoder(EMBED, HIDDEN, dropout=0.5)
    arguments = torch.randn(2, 4, EMBED), torch.zeros(2, 4, dtype=torch.bool)
    assert not torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
    encoder.eval()
    assert torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)


def test_a_depth_of_a_unet_below_one_is_refused_by_name():
    with pytest.raises(ValueError, match="the depth of a U-Net must be at least 1, not 0"):
        UNetEncoder(EMBED, HIDDEN, depth=0)
