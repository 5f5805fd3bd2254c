"""Separable convolutions against loops over one sentence."""

import pytest
import torch
from torch.nn import functional as F

from recurrent_mt.layers.separable_convolution import SeparableConvolutionEncoder
from tests.layers.one_sentence import (
    EMBED,
    assert_follows,
    assert_gradients_are_right,
    convolve,
    parameter_count,
)

HIDDEN = 6
OPTIONS = {
    "plain": {},
    "two_modules": {"num_modules": 2, "widths": (3, 5)},
    "three_steps": {"widths": (1, 3, 7)},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def step_by_loops(words, step):
    convolution = step.convolution
    hidden = convolve(words.relu(), convolution.depthwise.convolution)
    hidden = convolve(hidden, convolution.pointwise.convolution)
    rows = []
    for row in hidden:
        deviation = ((row - row.mean()) ** 2).mean()
        rows.append((row - row.mean()) / torch.sqrt(deviation + 1e-5) * step.norm.weight + step.norm.bias)
    return torch.stack(rows)


def encode_by_loops(encoder, words):
    hidden = F.layer_norm(encoder.words(words), (HIDDEN,), encoder.norm.weight, encoder.norm.bias)
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
    assert_follows(encoder, lambda words: encode_by_loops(encoder, words))


@every_option
def test_gradients_of_separable_convolutions_are_those_of_finite_differences(options):
    assert_gradients_are_right(SeparableConvolutionEncoder(EMBED, HIDDEN, **options), [5, 1, 4])


def test_separable_convolutions_have_the_parameters_of_their_formula():
    widths, modules = (3, 3, 15, 15), 2
    encoder = SeparableConvolutionEncoder(EMBED, HIDDEN, widths=widths, num_modules=modules)
    ends = HIDDEN * EMBED + HIDDEN + 2 * HIDDEN + HIDDEN**2  # words, their norm, summary
    step = sum(k * HIDDEN + HIDDEN**2 + 4 * HIDDEN for k in widths)  # two biases, gain and bias of the norm
    assert parameter_count(encoder) == ends + modules * step
