"""What the two GRU recurrences take besides whole matrices: products of two."""

import pytest
import torch

from recurrent_mt.kernels.attention import AttentiveGRUWeights, Memory
from recurrent_mt.kernels.attentive_gru import attentive_gru
from recurrent_mt.kernels.gru import gru
from recurrent_mt.kernels.matrix import Matrix
from tests.kernels import test_attentive_gru, test_gru
from tests.kernels.batches import (
    RAGGED,
    assert_same_outputs_and_gradients,
    every_backend,
    every_gradient,
    random,
    within,
)

RANK = 2

every_recurrence = pytest.mark.parametrize("recurrence", ["gru", "additive", "dot"])


def arguments(recurrence, lengths, *, product, size=5, dtype=torch.float32):
    """A function of a backend and tensors, and the tensors: those of the plain recurrence, or its matrices factored."""
    if recurrence == "gru":
        counts, tensors = test_gru.arguments(lengths, size, dtype)
        first, mask = 2, None
    else:
        additive = recurrence == "additive"
        counts, mask, tensors = test_attentive_gru.arguments(lengths, size, additive=additive, dtype=dtype)
        first = 4
    matrices = 2 if recurrence == "gru" else 3
    others, factors, rest = tensors[:first], tensors[first : first + matrices], tensors[first + matrices :]
    if product:
        pairs = [((len(w), RANK), (RANK, w.size(1))) for w in factors]
        factors = [random(*shape, seed=40, dtype=dtype) / size**0.5 for pair in pairs for shape in pair]
    end = first + len(factors)

    def function(backend, *leaves):
        before, given, after = leaves[:first], leaves[first:end], leaves[end:]
        made = [Matrix(*pair) for pair in zip(given[::2], given[1::2])] if product else [*map(Matrix, given)]
        if recurrence == "gru":
            return [within(backend, gru)(*before, *made, batch_sizes=counts)]
        inputs, initial, keys, values = before
        query, score = after or (None, None)
        memory = Memory(keys, values, mask.to(keys.device))
        return within(backend, attentive_gru)(
            inputs, initial, memory, AttentiveGRUWeights(*made, query, score), batch_sizes=counts
        )

    return function, [*others, *factors, *rest]


@every_recurrence
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
@every_backend(["packed", "native"])
def test_backends_agree_on_a_recurrence_of_products(backend, recurrence, lengths):
    function, tensors = arguments(recurrence, lengths, product=True)
    assert_same_outputs_and_gradients(function, tensors, ["reference", backend])


@every_recurrence
@every_gradient
def test_gradients_of_a_recurrence_of_products_are_those_of_finite_differences(backend, recurrence):
    function, tensors = arguments(recurrence, [4, 1, 2], product=True, size=2, dtype=torch.float64)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *a: tuple(function(backend, *a)[:2]), leaves, fast_mode=True)


def test_wrong_shapes_of_products_are_refused_by_name():
    counts, (inputs, initial, gate, _) = test_gru.arguments([2], 3)
    product = Matrix(torch.zeros(3, 2), torch.zeros(1, 3))
    with pytest.raises(ValueError, match=r"candidate's .* \(3, 3\), .* not \(3, 2\) times \(1, 3\)"):
        gru(inputs, initial, gate, product, batch_sizes=counts)
