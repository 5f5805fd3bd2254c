"""What the two GRU recurrences take besides whole matrices and one state: products of matrices, a skip in time."""

import pytest
import torch

from recurrent_mt.kernels.attentive_gru import AttentiveGRUWeights, Memory, attentive_gru
from recurrent_mt.kernels.gru import BACKENDS, gru
from recurrent_mt.kernels.matrix import Matrix
from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.kernels.previous_state import last_states
from tests.kernels import test_attentive_gru, test_gru
from tests.kernels.batches import RAGGED, assert_same_outputs_and_gradients, every_backend, every_gradient, random
from tests.tolerances import PARITY

SIZE, RANK, SPAN = 5, 2, 3

#: A factored product, a gate over time, and both.
ONE_OR_BOTH = [(True, False), (False, True), (True, True)]
every_part = pytest.mark.parametrize(("product", "skip"), ONE_OR_BOTH)
every_recurrence = pytest.mark.parametrize("recurrence", ["gru", "additive", "dot"])


def arguments(recurrence, lengths, *, product, skip, size=SIZE, dtype=torch.float32):
    """A function of a backend and tensors, and the tensors: those of the plain recurrence, factored, with a gate."""
    if recurrence == "gru":
        counts, tensors = test_gru.arguments(lengths, size, dtype)
        first, mask = 2, None
    else:
        additive = recurrence == "additive"
        counts, mask, tensors = test_attentive_gru.arguments(lengths, size, additive=additive, dtype=dtype)
        first = 4
    matrices = 2 if recurrence == "gru" else 3
    others, weights, rest = tensors[:first], tensors[first : first + matrices], tensors[first + matrices :]
    if product:
        pairs = [((len(w), RANK), (RANK, w.size(1))) for w in weights]
        weights = [random(*shape, seed=40, dtype=dtype) / size**0.5 for pair in pairs for shape in pair]
    if skip:
        others[1] = random(len(lengths), SPAN, size, seed=41, dtype=dtype)
        rest = [*rest, random(size, seed=42, dtype=dtype).sigmoid()]

    def function(backend, *leaves):
        leaves = list(leaves)
        options = {"counts": counts, "backend": backend, "time_gate": leaves.pop() if skip else None}
        before, leaves = leaves[:first], leaves[first:]
        made = [Matrix(leaves.pop(0), leaves.pop(0) if product else None) for _ in range(matrices)]
        if recurrence == "gru":
            return [gru(*before, *made, **options)]
        inputs, initial, keys, values = before
        query, score = leaves or (None, None)
        memory, weights = Memory(keys, values, mask.to(keys.device)), AttentiveGRUWeights(*made, query, score)
        return attentive_gru(inputs, initial, memory, weights, **options)

    return function, [*others, *weights, *rest]


@every_part
@every_recurrence
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
@every_backend(["packed", "native"])
def test_backends_agree_on_each_part_of_a_recurrence(backend, recurrence, lengths, product, skip):
    function, tensors = arguments(recurrence, lengths, product=product, skip=skip)
    assert_same_outputs_and_gradients(function, tensors, ["reference", backend])


@pytest.mark.parametrize(
    ("recurrence", "product", "skip"),
    [
        # One part alone is a plain recurrence with it: the attentive ones have both by default.
        *(pytest.param("gru", product, skip) for product, skip in ONE_OR_BOTH),
        *(
            pytest.param(recurrence, product, skip, marks=() if product and skip else pytest.mark.slow)
            for recurrence in ("additive", "dot")
            for product, skip in ONE_OR_BOTH
        ),
    ],
)
@every_gradient
def test_gradients_of_each_part_are_those_of_finite_differences(backend, recurrence, product, skip):
    lengths = [4, 1, 2]
    function, tensors = arguments(recurrence, lengths, product=product, skip=skip, size=2, dtype=torch.float64)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *a: tuple(function(backend, *a)[:2]), leaves)


@every_recurrence
@every_backend(BACKENDS)
def test_an_open_gate_turns_off_the_skip_in_time(backend, recurrence):
    lengths = [4, 7, 0, 1]
    skipping, tensors = arguments(recurrence, lengths, product=False, skip=True)
    plain, _ = arguments(recurrence, lengths, product=False, skip=False)
    tensors[-1] = torch.ones(SIZE)
    expected = plain(backend, tensors[0], tensors[1][:, -1], *tensors[2:-1])
    for result, other in zip(skipping(backend, *tensors), expected):
        torch.testing.assert_close(result, other, **PARITY[torch.float32])


@every_backend(BACKENDS)
def test_three_steps_of_a_skip_are_those_worked_out_by_hand(backend):
    """With z = 1 every step keeps what entered it, so with g = 1/4 and K = 2, h_t = h_{t−1}/4 + 3/4 h_{t−2}."""
    inputs = torch.tensor([[0.0, 50.0, 0.0]] * 3, dtype=torch.float64)
    initial = torch.tensor([[[1.0], [2.0]]], dtype=torch.float64)
    zeros = torch.zeros(2, 1, dtype=torch.float64)
    gate = torch.tensor([0.25], dtype=torch.float64)
    states = gru(inputs, initial, zeros, zeros[:1], counts=[1, 1, 1], time_gate=gate, backend=backend)
    first = 2 / 4 + 3 / 4
    second = first / 4 + 2 * 3 / 4
    assert states.flatten().tolist() == pytest.approx([first, second, second / 4 + first * 3 / 4])


def test_the_last_states_reach_back_before_the_start():
    lengths = [4, 1, 0, 2]
    mask = torch.arange(4) >= torch.tensor(lengths)[:, None]
    packing = make_packing(mask)
    padded, initial = random(4, 4, SIZE), random(4, SPAN, SIZE)
    result = packing.unsort(last_states(packing.pack(padded), packing.sort(initial), packing.counts))
    for row, length in enumerate(lengths):
        expected = torch.cat([initial[row], padded[row, :length]])[-SPAN:]
        torch.testing.assert_close(result[row], expected)


def test_wrong_shapes_of_parts_are_refused_by_name():
    counts, (inputs, initial, gate, candidate) = test_gru.arguments([2], 3)
    with pytest.raises(ValueError, match=r"without a gate over time .* must be \(B, H\), not \(1, 2, 3\)"):
        gru(inputs, torch.zeros(1, 2, 3), gate, candidate, counts=counts)
    with pytest.raises(ValueError, match=r"needs initial states \(B, K, H\) with K > 1, not \(3,\) and \(1, 3\)"):
        gru(inputs, initial, gate, candidate, counts=counts, time_gate=torch.ones(3))
    product = Matrix(torch.zeros(3, 2), torch.zeros(1, 3))
    with pytest.raises(ValueError, match=r"candidate's .* \(3, 3\), .* not \(3, 2\) times \(1, 3\)"):
        gru(inputs, initial, gate, product, counts=counts)
