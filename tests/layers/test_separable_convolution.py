"""Separable convolutions against loops over one sentence."""

import math

import pytest
import torch
from torch.nn import functional as F

from recurrent_mt.layers.grid import Convolution
from recurrent_mt.layers.separable_convolution import SeparableConvolution, SeparableConvolutionEncoder, sinusoids
from tests.layers.one_sentence import (
    EMBED,
    assert_every_parameter_learns,
    assert_follows,
    assert_gradients_are_right,
    convolve,
    parameter_count,
    randomized,
)

HIDDEN = 6
OPTIONS = {
    "plain": {},
    "two_modules": {"num_modules": 2, "widths": (3, 5)},
    "three_steps": {"widths": (1, 3, 7)},
    "groups": {"widths": (3, 3, 5, 5), "groups": (2, 3)},
    "ordinary": {"widths": (3, 5), "ordinary": True},
    "positions": {"widths": (3,), "positions": True},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def step_by_loops(words, step):
    convolution = step.convolution
    if isinstance(convolution, SeparableConvolution):
        hidden = convolve(words.relu(), convolution.depthwise.convolution)
        hidden = convolve(hidden, convolution.pointwise.convolution)
    else:
        hidden = convolve(words.relu(), convolution.convolution)
    rows = []
    for row in hidden:
        deviation = ((row - row.mean()) ** 2).mean()
        rows.append((row - row.mean()) / torch.sqrt(deviation + 1e-5) * step.norm.weight + step.norm.bias)
    return torch.stack(rows)


def encode_by_loops(encoder, words, *, positions=False):
    hidden = F.layer_norm(encoder.words(words), (HIDDEN,), encoder.norm.weight, encoder.norm.bias)
    if positions:
        for place, row in enumerate(hidden):
            for unit in range(HIDDEN):
                angle = place / 10000 ** ((unit - unit % 2) / HIDDEN)
                row[unit] += math.cos(angle) if unit % 2 else math.sin(angle)
    for module in encoder.modules_of_steps:
        entered = hidden
        steps = list(module.steps)
        while steps:
            pair, steps = steps[:2], steps[2:]
            for step in pair:
                hidden = step_by_loops(hidden, step)
            hidden = entered + hidden
    return hidden, torch.tanh(encoder.summary.weight @ hidden.mean(dim=0))


@every_option
def test_separable_convolutions_of_a_batch_are_those_of_loops_over_each_sentence(options):
    encoder = SeparableConvolutionEncoder(EMBED, HIDDEN, **options)
    positions = options.get("positions", False)
    assert_follows(encoder, lambda words: encode_by_loops(encoder, words, positions=positions))


@every_option
def test_gradients_of_separable_convolutions_are_those_of_finite_differences(options):
    assert_gradients_are_right(SeparableConvolutionEncoder(EMBED, HIDDEN, **options), [5, 1, 4])


@every_option
def test_every_parameter_of_separable_convolutions_learns(options):
    assert_every_parameter_learns(SeparableConvolutionEncoder(EMBED, HIDDEN, **options))


def test_a_super_separable_convolution_is_one_separable_convolution_per_group():
    whole = randomized(SeparableConvolution(HIDDEN, width=3, groups=2))
    grid, padding = torch.randn(1, HIDDEN, 7, dtype=torch.float64), torch.zeros(1, 1, 7, dtype=torch.bool)
    output = whole(grid, padding)
    for channels in (slice(0, 3), slice(3, 6)):
        part = SeparableConvolution(3, width=3).double()
        for name in ("depthwise", "pointwise"):
            convolution = getattr(whole, name).convolution
            getattr(part, name).convolution.weight.data = convolution.weight.data[channels]
            getattr(part, name).convolution.bias.data = convolution.bias.data[channels]
        torch.testing.assert_close(part(grid[:, channels], padding), output[:, channels])


def test_sinusoids_are_the_published_ones():
    table = sinusoids(4, 5, like=torch.zeros(1, dtype=torch.float64))
    rates = [1.0, 1.0, 10000**-0.4, 10000**-0.4, 10000**-0.8]
    for place in range(4):
        expected = [(math.cos if unit % 2 else math.sin)(place * rates[unit]) for unit in range(5)]
        torch.testing.assert_close(table[place], torch.tensor(expected, dtype=torch.float64))


def test_without_positions_only_the_ends_reveal_a_words_place():
    encoder = randomized(SeparableConvolutionEncoder(EMBED, HIDDEN, widths=(3, 3)))
    words = torch.ones(1, 12, EMBED, dtype=torch.float64)
    annotations = encoder(words, torch.zeros(1, 12, dtype=torch.bool)).annotations[0]
    torch.testing.assert_close(annotations[2:10], annotations[2:3].expand(8, -1))
    assert not torch.allclose(annotations[0], annotations[2])
    encoder.positions = True
    placed = encoder(words, torch.zeros(1, 12, dtype=torch.bool)).annotations[0]
    assert not torch.allclose(placed[3], placed[4])


def test_groups_that_no_step_has_are_refused():
    with pytest.raises(ValueError, match="2 numbers of groups, but a module has 1 steps"):
        SeparableConvolutionEncoder(EMBED, HIDDEN, widths=(3,), num_modules=2, groups=(1, 2))


@pytest.mark.parametrize("groups", [(1,), (2,), (2, 3)])
def test_separable_convolutions_have_the_parameters_of_their_formula(groups):
    widths, modules = (3, 3, 15, 15), 2
    encoder = SeparableConvolutionEncoder(EMBED, HIDDEN, widths=widths, num_modules=modules, groups=groups)
    ends = HIDDEN * EMBED + HIDDEN + 2 * HIDDEN + HIDDEN**2  # words, their norm, summary
    step = sum(
        k * HIDDEN + HIDDEN**2 // groups[i % len(groups)] + 4 * HIDDEN  # two biases, gain and bias of the norm
        for i, k in enumerate(widths)
    )
    assert parameter_count(encoder) == ends + modules * step


def test_ordinary_convolutions_have_the_parameters_of_their_formula():
    encoder = SeparableConvolutionEncoder(EMBED, HIDDEN, widths=(3, 15), ordinary=True)
    ends = HIDDEN * EMBED + HIDDEN + 2 * HIDDEN + HIDDEN**2
    assert parameter_count(encoder) == ends + (3 + 15) * HIDDEN**2 + 2 * 3 * HIDDEN


def test_dropout_between_modules_is_drawn_in_training_only():
    torch.manual_seed(1)
    encoder = SeparableConvolutionEncoder(EMBED, HIDDEN, num_modules=2, widths=(3,), dropout=0.5)
    arguments = torch.randn(2, 4, EMBED), torch.zeros(2, 4, dtype=torch.bool)
    assert not torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)
    encoder.eval()
    assert torch.equal(encoder(*arguments).summary, encoder(*arguments).summary)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widths": (3, 4)}, "width of a convolution must be a positive odd number, not 4"),
        ({"widths": (-1,)}, "width of a convolution must be a positive odd number, not -1"),
        ({"groups": (4,)}, "4 groups do not divide the 6 channels"),
        ({"groups": (0,)}, "0 groups do not divide the 6 channels"),
        ({"groups": (2, 3), "ordinary": True}, "groups 2, 3 are for separable convolutions, not ordinary ones"),
        ({"widths": ()}, "at least one module, one kernel width, and one group"),
        ({"num_modules": 0}, "at least one module, one kernel width, and one group"),
    ],
)
def test_convolutions_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        SeparableConvolutionEncoder(EMBED, HIDDEN, **options)


def test_a_convolution_leaves_zeros_on_padding():
    padding = torch.tensor([[[False, False, True]]])
    output = Convolution(2, 3, width=3)(torch.ones(1, 2, 3), padding)
    assert output[:, :, 2].eq(0).all() and output[:, :, :2].ne(0).all()
