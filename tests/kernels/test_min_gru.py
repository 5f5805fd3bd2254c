import pytest
import torch

from recurrent_mt.kernels.min_gru import by_doubling, min_gru, position_by_position
from tests.kernels.batches import (
    RAGGED,
    assert_same_outputs_and_gradients,
    every_backend,
    every_gradient,
    packing_of,
    random,
    within,
)
from tests.tolerances import PARITY

RAGGED_AND_LONG = {**RAGGED, "very long": [1000, 1, 999]}


def arguments(lengths, size, dtype=torch.float32, *, shifted=False):
    packing = packing_of(lengths)
    tensors = [random(sum(lengths), 2 * size, dtype=dtype), random(len(lengths), size, seed=1, dtype=dtype)]
    return packing.batch_sizes, [*tensors, random(2 * size, seed=2, dtype=dtype)] if shifted else tensors


def run(backend, inputs, initial, shift=None, *, counts):
    return within(backend, min_gru)(inputs, initial, batch_sizes=counts, shift=shift)


with_and_without_shift = pytest.mark.parametrize("shifted", [False, True], ids=["", "shifted"])


@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("lengths", RAGGED_AND_LONG.values(), ids=RAGGED_AND_LONG)
@with_and_without_shift
@every_backend(["packed", "native"])
def test_implementations_of_min_gru_agree(backend, shifted, lengths, size):
    counts, tensors = arguments(lengths, size, shifted=shifted)
    assert_same_outputs_and_gradients(lambda name, *a: [run(name, *a, counts=counts)], tensors, ["reference", backend])


@with_and_without_shift
@every_gradient
def test_gradients_of_min_gru_are_those_of_finite_differences(backend, shifted):
    counts, tensors = arguments([3, 1, 2, 0], 2, torch.float64, shifted=shifted)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *a: run(backend, *a, counts=counts), leaves, fast_mode=True)


@every_backend(["reference", "packed", "native"])
def test_a_shift_joins_the_inputs_of_two_rows(backend):
    """Half of the first row's 1 and 2 joins the second row's 3 and 4; nothing comes before the first."""
    inputs = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    joined = torch.tensor([[1.0, 2.0], [3.5, 5.0]])
    for shift in (torch.tensor([0.5, 0.5]), torch.tensor([0.5], dtype=torch.double).expand(2)):
        found = run(backend, inputs, torch.zeros(1, 1), shift, counts=[1, 1])
        torch.testing.assert_close(found, run(backend, joined, torch.zeros(1, 1), counts=[1, 1]))


@every_backend(["reference", "packed", "native"])
def test_two_steps_of_min_gru_are_the_ones_worked_out_by_hand(backend):
    """With gates of 1/2 and candidates of 1 and 3, a state of 0 becomes 1/2 and then 7/4."""
    inputs = torch.tensor([[0.0, 1.0], [0.0, 3.0]])
    states = within(backend, min_gru)(inputs, torch.zeros(1, 1), batch_sizes=[1, 1])
    assert states.flatten().tolist() == [0.5, 1.75]


@every_backend(["reference", "packed", "native"])
def test_closed_and_open_gates_of_min_gru_pass_states_and_candidates_unchanged(backend):
    inputs = torch.tensor([[-200.0, 3.0], [50.0, 0.7]])
    states = within(backend, min_gru)(inputs, torch.tensor([[0.3]]), batch_sizes=[1, 1])
    assert torch.equal(states, torch.tensor([[0.3], [0.7]]))


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("lengths", RAGGED_AND_LONG.values(), ids=RAGGED_AND_LONG)
def test_passes_of_a_gpu_are_the_loop_of_a_cpu(lengths, backward):
    counts, (inputs, _) = arguments(lengths, 5)
    add, keep = inputs.chunk(2, dim=1)
    ways = [way(keep.sigmoid(), add, counts, backward=backward) for way in (by_doubling, position_by_position)]
    torch.testing.assert_close(*ways, **PARITY[torch.float32])


def test_wrong_shapes_given_to_min_gru_are_refused_by_name():
    _, (inputs, initial) = arguments([2], 3)
    with pytest.raises(ValueError, match=r"inputs must be \(2, 6\), not \(1, 6\)"):
        min_gru(inputs[:1], initial, batch_sizes=[1, 1])
    with pytest.raises(ValueError, match="2 sentences start, but there are 1 initial states"):
        min_gru(inputs, initial, batch_sizes=[2])
    with pytest.raises(ValueError, match=r"shift must be \(6,\), not \(3,\)"):
        min_gru(inputs, torch.zeros(2, 3), batch_sizes=[2], shift=torch.zeros(3))


def test_min_gru_of_no_words_is_empty():
    assert min_gru(torch.zeros(0, 6), torch.zeros(2, 3), batch_sizes=[]).shape == (0, 3)
