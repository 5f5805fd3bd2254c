import pytest
import torch

from tests.kernels.batches import RAGGED, assert_same_outputs_and_gradients, packing_of, random
from user_dir.kernels.grconv import ACTIVATIONS, BACKENDS, GRConvWeights, grconv


def arguments(lengths, size, dtype=torch.float32):
    shapes = [(sum(lengths), size), (size, size), (size, size), (size,), (3, size), (3, size), (3,)]
    tensors = [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]
    # Keeps the values of a pyramid of 63 levels near one.
    return packing_of(lengths).counts, [tensors[0], *(tensor / size**0.5 for tensor in tensors[1:])]


def run(counts, activation):
    return lambda backend, leaves, *weights: grconv(
        leaves, GRConvWeights(*weights), counts=counts, activation=activation, backend=backend
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_backends_agree(lengths, size, activation):
    counts, tensors = arguments(lengths, size)
    assert_same_outputs_and_gradients(run(counts, activation), tensors, ["reference", "packed"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_by_finite_differences(backend):
    counts, tensors = arguments([3, 1, 5, 2], 3, torch.float64)
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *a: run(counts, "tanh")(backend, *a)[0], leaves)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_words_by_hand(backend):
    """Equal gates of 1/3 and h̃ = max(0, 2·l + r − 0.5): the root of (1, −2) is (h̃ + l + r)/3 with h̃ = 0."""
    one = torch.ones(1, 1)
    weights = GRConvWeights(2 * one, one, -0.5 * one[0], torch.zeros(3, 1), torch.zeros(3, 1), torch.zeros(3))
    for left, right, candidate in [(1.0, -2.0, 0.0), (1.0, 0.25, 1.75)]:
        roots, gates = grconv(
            torch.tensor([[left], [right]]), weights, counts=[1, 1], activation="relu", backend=backend
        )
        assert roots.item() == pytest.approx((candidate + left + right) / 3)
        torch.testing.assert_close(gates, torch.full((1, 3), 1 / 3))


@pytest.mark.parametrize("backend", BACKENDS)
def test_gates_are_ordered_new_left_right_and_copy(backend):
    """A gate that is nearly one copies its source: with 'left' the root is the first word, with 'right' the last."""
    counts, (leaves, *weights) = arguments([4], 3)
    for gate, expected in ((1, leaves[0]), (2, leaves[3])):
        bias = torch.zeros(3)
        bias[gate] = 50.0
        roots, gates = grconv(leaves, GRConvWeights(*weights[:5], bias), counts=counts, backend=backend)
        torch.testing.assert_close(roots[0], expected)
        assert gates.argmax(dim=1).tolist() == [gate] * 6


def test_cost_is_the_pyramids_and_nothing_for_padding():
    lengths = [7, 1, 4]
    counts, (leaves, *weights) = arguments(lengths, 3)
    _, gates = grconv(leaves, GRConvWeights(*weights), counts=counts)
    assert gates.size(0) == sum(n * (n - 1) // 2 for n in lengths)
    assert not gates.requires_grad


def test_wrong_shapes_and_names_are_named():
    counts, (leaves, *weights) = arguments([2], 3)
    with pytest.raises(ValueError, match=r"width 3 need the weight 'gate_left' to be \(3, 3\), not \(2, 3\)"):
        grconv(leaves, GRConvWeights(*weights)._replace(gate_left=torch.zeros(2, 3)), counts=counts)
    with pytest.raises(ValueError, match="no activation 'gelu'; it has: tanh, relu"):
        grconv(leaves, GRConvWeights(*weights), counts=counts, activation="gelu")
    with pytest.raises(ValueError, match="3 leaves are planned, but there are 2"):
        grconv(leaves, GRConvWeights(*weights), counts=[2, 1])
    with pytest.raises(ValueError, match="grconv has no backend 'fast'; it has: packed, reference"):
        grconv(leaves, GRConvWeights(*weights), counts=counts, backend="fast")


def test_no_words_at_all():
    _, (_, *weights) = arguments([2], 3)
    roots, gates = grconv(torch.zeros(0, 3), GRConvWeights(*weights), counts=[])
    assert roots.shape == (0, 3) and gates.shape == (0, 3)
