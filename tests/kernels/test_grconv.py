import weakref

import pytest
import torch

from recurrent_mt.kernels import grconv as operation
from recurrent_mt.kernels.grconv import ACTIVATIONS, GRConvWeights, Levels, grconv
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

#: Heights of the pyramid and of what is returned of it.
MODES = {
    "plain": {},
    "bounded_1": {"height": 1},
    "bounded_3": {"height": 3},
    "nodes_2": {"annotation_height": 2},
    "all_nodes": {"annotation_height": 62},
    "bounded_3_nodes_2": {"height": 3, "annotation_height": 2},
    "bounded_2_nodes_2": {"height": 2, "annotation_height": 2},
}


def arguments(lengths, size, dtype=torch.float32):
    shapes = [(sum(lengths), size), (size, size), (size, size), (size,), (3, size), (3, size), (3,)]
    tensors = [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]
    # Keeps the values of a pyramid of 63 levels near one.
    return packing_of(lengths).batch_sizes, [tensors[0], *(tensor / size**0.5 for tensor in tensors[1:])]


def run(counts, activation="tanh", **heights):
    return lambda backend, leaves, *weights: within(backend, grconv)(
        leaves, GRConvWeights(*weights), batch_sizes=counts, activation=activation, **heights
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
@every_backend(["packed", "native"])
def test_backends_of_grconv_agree(backend, lengths, size, activation):
    counts, tensors = arguments(lengths, size)
    assert_same_outputs_and_gradients(run(counts, activation), tensors, ["reference", backend])


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plain"])
@pytest.mark.parametrize("lengths", ["one", "mixed", "with_empty"])
@every_backend(["packed", "native"])
def test_backends_of_grconv_agree_in_every_mode(backend, lengths, mode):
    """In double precision: where nodes of 63 levels are returned, gradients cancel to a millionth of their parts."""
    counts, tensors = arguments(RAGGED[lengths], 5, torch.float64)
    assert_same_outputs_and_gradients(run(counts, **MODES[mode]), tensors, ["reference", backend])


@pytest.mark.parametrize("mode", MODES)
@every_gradient
def test_gradients_of_grconv_are_those_of_finite_differences(backend, mode):
    counts, tensors = arguments([3, 1, 5, 2], 2, torch.float64)
    leaves = [tensor.requires_grad_() for tensor in tensors]

    def function(*values):
        output = run(counts, **MODES[mode])(backend, *values)
        return (output.summaries, output.nodes) if "annotation_height" in MODES[mode] else output.summaries

    assert torch.autograd.gradcheck(function, leaves, fast_mode=True)


@every_backend(ALL)
def test_the_root_of_two_words_is_the_one_worked_out_by_hand(backend):
    """Equal gates of 1/3 and h̃ = max(0, 2·l + r − 0.5): the root of (1, −2) is (h̃ + l + r)/3 with h̃ = 0."""
    one = torch.ones(1, 1)
    weights = GRConvWeights(2 * one, one, -0.5 * one[0], torch.zeros(3, 1), torch.zeros(3, 1), torch.zeros(3))
    for left, right, candidate in [(1.0, -2.0, 0.0), (1.0, 0.25, 1.75)]:
        roots, gates, _ = within(backend, grconv)(
            torch.tensor([[left], [right]]), weights, batch_sizes=[1, 1], activation="relu"
        )
        assert roots.item() == pytest.approx((candidate + left + right) / 3)
        torch.testing.assert_close(gates, torch.full((1, 3), 1 / 3))


@every_backend(ALL)
def test_the_nodes_of_a_bounded_pyramid_are_those_worked_out_by_hand(backend):
    """Equal gates and h̃ = 0: a node is a third of its children's sum.

    (3, 6, 9, 0) has (3, 5, 3) above it, and then (8/3, 8/3). A second sentence, (3, 6), has its root on level 1.
    """
    zero = torch.zeros(1, 1)
    weights = GRConvWeights(zero, zero, zero[0], torch.zeros(3, 1), torch.zeros(3, 1), torch.zeros(3))
    leaves = torch.tensor([[3.0], [3.0], [6.0], [6.0], [9.0], [0.0]])
    for height, expected in [(1, [11 / 3, 3.0]), (2, [8 / 3, 3.0]), (3, [16 / 9, 3.0]), (0, [16 / 9, 3.0])]:
        output = within(backend, grconv)(leaves, weights, batch_sizes=[2, 2, 1, 1], activation="relu", height=height)
        torch.testing.assert_close(output.summaries.flatten(), torch.tensor(expected))
        assert output.gates.size(0) == {1: 4, 2: 6}.get(height, 7)
    nodes = within(backend, grconv)(
        leaves, weights, batch_sizes=[2, 2, 1, 1], activation="relu", annotation_height=2
    ).nodes
    torch.testing.assert_close(nodes.flatten(), torch.tensor([3.0, 3.0, 5.0, 3.0, 8 / 3, 8 / 3]))


@every_backend(ALL)
def test_a_height_that_no_sentence_reaches_changes_nothing(backend):
    counts, (leaves, *weights) = arguments([7, 1, 4], 5)
    free, bounded = (
        within(backend, grconv)(leaves, GRConvWeights(*weights), batch_sizes=counts, height=height) for height in (0, 6)
    )
    assert all(torch.equal(*pair) for pair in zip(free, bounded))


@every_backend(ALL)
def test_gates_are_ordered_new_left_right_and_copy(backend):
    """A gate that is nearly one copies its source: with 'left' the root is the first word, with 'right' the last."""
    counts, (leaves, *weights) = arguments([4], 3)
    for gate, expected in ((1, leaves[0]), (2, leaves[3])):
        bias = torch.zeros(3)
        bias[gate] = 50.0
        roots, gates, _ = within(backend, grconv)(leaves, GRConvWeights(*weights[:5], bias), batch_sizes=counts)
        torch.testing.assert_close(roots[0], expected)
        assert gates.argmax(dim=1).tolist() == [gate] * 6


@pytest.mark.parametrize("height", [0, 1, 3])
def test_cost_is_the_pyramids_and_nothing_for_padding(height):
    lengths = [7, 1, 4]
    counts, (leaves, *weights) = arguments(lengths, 3)
    gates = grconv(leaves, GRConvWeights(*weights), batch_sizes=counts, height=height).gates
    assert gates.size(0) == sum(n - level for n in lengths for level in range(1, n) if level <= (height or n))
    assert not gates.requires_grad


def test_wrong_shapes_and_names_given_to_grconv_are_refused_by_name():
    counts, (leaves, *weights) = arguments([2], 3)
    with pytest.raises(ValueError, match=r"width 3, the weight 'gate_left' must be \(3, 3\), not \(2, 3\)"):
        grconv(leaves, GRConvWeights(*weights)._replace(gate_left=torch.zeros(2, 3)), batch_sizes=counts)
    with pytest.raises(ValueError, match=r"width 3, the weight 'gate_bias' must be \(3,\), not \(9,\)"):
        grconv(leaves, GRConvWeights(*weights)._replace(gate_bias=torch.zeros(9)), batch_sizes=counts)
    with pytest.raises(ValueError, match="3 leaves are expected, but there are 2"):
        grconv(leaves, GRConvWeights(*weights), batch_sizes=[2, 1])


def test_grconv_of_no_words_is_empty():
    _, (_, *weights) = arguments([2], 3)
    roots, gates, nodes = grconv(torch.zeros(0, 3), GRConvWeights(*weights), batch_sizes=[], annotation_height=1)
    assert roots.shape == (0, 3) and gates.shape == (0, 3) and nodes.shape == (0, 3)


def kept_numbers(leaves, counts, **options):
    """How many numbers, leaves and weights not counted, are kept between forward and backward pass."""
    size = leaves.size(1)
    shapes = [(size, size), (size, size), (size,), (3, size), (3, size), (3,)]
    storages = {}

    def count(tensor):
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // tensor.element_size()
        return tensor

    weights = GRConvWeights(*(random(*shape).requires_grad_() for shape in shapes))
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        output = grconv(leaves, weights, batch_sizes=counts, **options)
    assert output.summaries.requires_grad
    return sum(storages.values()) - leaves.numel() - 2 * (size + 3) * size - size - 3


def test_nodes_that_are_kept_and_nodes_that_are_merged_again_are_the_same(monkeypatch):
    counts, tensors = arguments([17, 3, 12], 5)
    results = []
    for room in (0, 1 << 24):
        monkeypatch.setattr(operation, "KEPT_BYTES", room)
        given = [tensor.clone().requires_grad_() for tensor in tensors]
        summaries = run(counts)("packed", *given).summaries
        results.append([summaries, *torch.autograd.grad(summaries.sum(), given)])
    for few, all_of_them in zip(*results):
        assert torch.equal(few, all_of_them)


@pytest.mark.parametrize(("room", "spacing"), [(0, 9), (0.1, 9), (0.3, 4), (0.5, 2), (1, 1)])
def test_a_long_sentence_keeps_the_nodes_that_there_is_room_for(room, spacing, monkeypatch):
    """Of a hundred leaves: a candidate, 3 logits and 3 gates a node, and the nodes that there is room for.

    At least those of every ninth level.
    """
    size, length = 40, 100
    leaves = random(length, size).requires_grad_()
    nodes = length * (length - 1) // 2
    monkeypatch.setattr(operation, "KEPT_BYTES", room * nodes * size * leaves.element_size())
    kept = within("packed", kept_numbers)(leaves, [1] * length)
    assert kept == nodes * (size + 6) + sum(length - level for level in range(spacing, length - 1, spacing)) * size


@pytest.mark.parametrize("gradients", [True, False])
def test_without_gradients_no_level_is_kept_when_the_next_one_grows(gradients):
    """None but its gates, which are returned."""
    grown, alive = [], []

    class Watched(operation.PackedLevel):
        def grow(self, weights):
            alive.append(sum(tensor() is not None for tensor in grown))
            result = super().grow(weights)
            grown.extend(weakref.ref(tensor) for tensor in result)
            return result

    counts, (leaves, *weights) = arguments([9], 5)
    with torch.set_grad_enabled(gradients):
        output = operation.packed_grconv(
            leaves.requires_grad_(), GRConvWeights(*weights), counts, "tanh", Levels(0, 0), level=Watched
        )
    assert output.summaries.requires_grad == gradients
    assert alive[:2] == [0, 3] and alive[-1] >= 2 * 7 if gradients else alive == [0, *range(3, 10)]
