import pytest
import torch

from recurrent_mt.kernels.gru import gru
from tests.kernels.batches import (
    ALL,
    RAGGED,
    assert_same_outputs_and_gradients,
    every_backend,
    every_gradient,
    packing_of,
    random,
    within,
)
from tests.tolerances import PARITY


def arguments(lengths, size, dtype=torch.float32):
    packing = packing_of(lengths)
    shapes = [(sum(lengths), 3 * size), (len(lengths), size), (2 * size, size), (size, size)]
    tensors = [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]
    # Recurrent weights of this size neither amplify nor dampen what 63 steps carry.
    return packing.batch_sizes, [*tensors[:2], *(weight / size**0.5 for weight in tensors[2:])]


@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
@every_backend(["packed", "native"])
def test_backends_of_gru_agree(backend, lengths, size):
    counts, tensors = arguments(lengths, size)
    assert_same_outputs_and_gradients(
        lambda name, *a: [within(name, gru)(*a, batch_sizes=counts)], tensors, ["reference", backend]
    )


@every_gradient
def test_gradients_of_gru_are_those_of_finite_differences(backend):
    counts, tensors = arguments([3, 1, 2], 2, torch.float64)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *a: within(backend, gru)(*a, batch_sizes=counts), leaves, fast_mode=True)


@every_backend(ALL)
def test_one_step_of_gru_is_the_one_worked_out_by_hand(backend):
    """With x_r = x_z = 0 and no recurrent weight but U = 1: r = z = 1/2, h̃ = tanh(x + h/2), h' = (h + h̃)/2."""
    h, x = 0.6, 0.2
    zeros = torch.zeros(2, 1, dtype=torch.float64)
    state = within(backend, gru)(
        torch.tensor([[0.0, 0.0, x]], dtype=torch.float64),
        torch.tensor([[h]], dtype=torch.float64),
        zeros,
        torch.ones(1, 1, dtype=torch.float64),
        batch_sizes=[1],
    )
    candidate = torch.tanh(torch.tensor(x + h / 2, dtype=torch.float64))
    torch.testing.assert_close(state[0, 0], (h + candidate) / 2, **PARITY[torch.float64])


@every_backend(ALL)
def test_update_gate_keeps_the_old_state(backend):
    """z = σ(large) = 1 must leave the state alone; PyTorch's own GRU is a function with the same convention for z."""
    inputs = torch.tensor([[0.0, 50.0, 3.0]])
    state = within(backend, gru)(inputs, torch.tensor([[0.25]]), torch.zeros(2, 1), torch.ones(1, 1), batch_sizes=[1])
    assert state.item() == 0.25


def test_reset_before_the_product_is_not_torchs_gru():
    size = 4
    counts, (inputs, initial, gate_weight, candidate_weight) = arguments([5], size)
    cell = torch.nn.GRUCell(3 * size, size, bias=False)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.eye(3 * size))
        cell.weight_hh.copy_(torch.cat([gate_weight, candidate_weight]))
        expected, state = [], initial
        for x in inputs:
            state = cell(x[None], state)
            expected.append(state)
    ours = gru(inputs, initial, gate_weight, candidate_weight, batch_sizes=counts)
    assert (ours - torch.cat(expected)).abs().max() > 0.01


def test_wrong_shapes_and_backends_given_to_gru_are_refused_by_name():
    counts, (inputs, initial, gate_weight, candidate_weight) = arguments([2], 3)
    with pytest.raises(ValueError, match=r"gates' recurrent weight must be of shape \(6, 3\), .* not \(3, 3\)"):
        gru(inputs, initial, candidate_weight, candidate_weight, batch_sizes=counts)
    with pytest.raises(ValueError, match=r"inputs must be \(2, 9\), not \(1, 9\)"):
        gru(inputs[:1], initial, gate_weight, candidate_weight, batch_sizes=counts)
    with pytest.raises(ValueError, match="2 sentences start, but there are 1 initial states"):
        gru(inputs, initial, gate_weight, candidate_weight, batch_sizes=[2])
    with pytest.raises(ValueError, match="gru has no implementation 'cudnn'; it has: fused, native, packed, reference"):
        within("cudnn", gru)(inputs, initial, gate_weight, candidate_weight, batch_sizes=counts)


def test_gru_of_no_words_is_empty():
    assert gru(torch.zeros(0, 9), torch.zeros(2, 3), torch.zeros(6, 3), torch.zeros(3, 3), batch_sizes=[]).shape == (
        0,
        3,
    )
