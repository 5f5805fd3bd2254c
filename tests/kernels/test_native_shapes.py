"""The native kernels on shapes that nobody chose, against ``packed``, which other tests compare with the reference.

``HYPOTHESIS_MAX_EXAMPLES=10000`` in the environment makes many more of them.
"""

import os

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recurrent_mt.kernels.attention import AttentiveGRUWeights, Memory
from recurrent_mt.kernels.attentive_gru import attentive_gru
from recurrent_mt.kernels.cross_entropy import cross_entropy
from recurrent_mt.kernels.dilated_grconv import DilatedGRConvWeights, dilated_grconv
from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from recurrent_mt.kernels.linear import FEWEST_ROWS, linear
from tests.kernels.batches import assert_same_outputs_and_gradients, needs_native, packing_of, random, within

EXAMPLES = int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "20"))

lengths = st.lists(st.integers(0, 9), min_size=1, max_size=40).filter(any)
width = st.integers(1, 140)


def scaled(*shapes):
    return [random(*shape, seed=index) / shape[-1] ** 0.5 for index, shape in enumerate(shapes)]


@needs_native
@settings(max_examples=EXAMPLES, deadline=None)
@given(lengths, width, width, width, st.integers(1, 12), st.booleans())
def test_attentive_gru(targets, size, keys, values, words, additive):
    packing, batch = packing_of(targets), len(targets)
    keys = keys if additive else size
    mask = torch.arange(words) >= torch.randint(1, words + 1, (batch, 1), generator=torch.Generator().manual_seed(1))
    shapes = [(sum(targets), 3 * size), (batch, size), (batch, words, keys), (batch, words, values)]
    shapes += [(2 * size, size), (size, size), (3 * size, values)]
    tensors = scaled(*shapes, *([(keys, size), (keys,)] if additive else []))

    def run(backend, inputs, initial, key_rows, value_rows, *weights):
        weights = AttentiveGRUWeights(*weights, *[None] * (5 - len(weights)))
        memory = Memory(key_rows, value_rows, mask)
        return within(backend, attentive_gru)(inputs, initial, memory, weights, batch_sizes=packing.batch_sizes)

    assert_same_outputs_and_gradients(run, tensors, ["packed", "native"])


@needs_native
@settings(max_examples=EXAMPLES, deadline=None)
@given(lengths, width, st.sampled_from(["tanh", "relu"]))
def test_grconv(leaves, size, activation):
    """In double precision: rounding decides on which side of zero a relu is."""
    tensors = scaled((sum(leaves), size), (size, size), (size, size), (size,), (3, size), (3, size), (3,))
    assert_same_outputs_and_gradients(
        lambda backend, rows, *weights: within(backend, grconv)(
            rows, GRConvWeights(*weights), batch_sizes=packing_of(leaves).batch_sizes, activation=activation
        ),
        [tensor.double() for tensor in tensors],
        ["packed", "native"],
    )


@needs_native
@settings(max_examples=EXAMPLES, deadline=None)
@given(lengths, width, st.integers(1, 5), st.integers(0, 4))
def test_dilated_grconv(leaves, size, sets, height):
    """In double precision, as above."""
    shapes = [(sets, size, size)] * 2 + [(sets, size)] + [(sets, 3, size)] * 2 + [(sets, 3)]
    assert_same_outputs_and_gradients(
        lambda backend, rows, *weights: within(backend, dilated_grconv)(
            rows,
            DilatedGRConvWeights(*weights),
            batch_sizes=packing_of(leaves).batch_sizes,
            height=height,
        ),
        [tensor.double() for tensor in scaled((sum(leaves), size), *shapes)],
        ["packed", "native"],
    )


@needs_native
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 600), width, st.integers(2, 300), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_cross_entropy(rows, size, vocabulary, biased, smoothing):
    tensors = scaled((rows, size), (vocabulary, size), (vocabulary,))
    target = torch.arange(rows) * 7 % vocabulary

    def run(backend, features, weight, bias):
        given = features, weight, bias if biased else None, target
        return within(backend, cross_entropy)(*given, label_smoothing=smoothing)

    assert_same_outputs_and_gradients(run, tensors, ["packed", "native"])


@needs_native
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(FEWEST_ROWS, 600), width, width, st.booleans())
def test_linear_layers(rows, inner, columns, biased):
    def run(backend, given, weight, bias):
        return [within(backend, linear)(given, weight, bias if biased else None)]

    given, *weights = scaled((rows, inner), (columns, inner), (columns,))
    # The weight's gradient is a sum over the rows: unless they are small, its rounding is as large as the tolerance.
    assert_same_outputs_and_gradients(run, [given / rows**0.5, *weights], ["packed", "native"])
