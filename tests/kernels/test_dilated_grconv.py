import pytest
import torch

from recurrent_mt.kernels.dilated_grconv import DilatedGRConvWeights, count_levels, dilated_grconv
from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from tests.kernels.batches import (
    ALL,
    RAGGED,
    assert_same_outputs_and_gradients,
    every_backend,
    every_gradient,
    needs_native,
    packing_of,
    random,
    within,
)

#: Sets of weights.
MODES = {
    "shared": {},
    "own_for_the_first": {"sets": 2},
    "own_for_all": {"sets": 9},
}

#: Where a level begins or ends, and a sentence longer than most.
EDGES = {"edges": [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100], "sixty_four": [64], "sixty_five": [65, 64]}


def arguments(lengths, size, dtype=torch.float32, *, sets=1):
    shapes = [(sum(lengths), size), (sets, size, size), (sets, size, size), (sets, size)]
    shapes += [(sets, 3, size), (sets, 3, size), (sets, 3)]
    tensors = [random(*shape, seed=i, dtype=dtype) for i, shape in enumerate(shapes)]
    return packing_of(lengths).batch_sizes, [tensors[0], *(tensor / size**0.5 for tensor in tensors[1:])]


def run(counts, height=0):
    return lambda backend, leaves, *weights: within(backend, dilated_grconv)(
        leaves, DilatedGRConvWeights(*weights), batch_sizes=counts, height=height
    )


@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("lengths", [*RAGGED.values(), *EDGES.values()], ids=[*RAGGED, *EDGES])
@every_backend(["packed", "native"])
def test_backends_of_dilated_grconv_agree(backend, lengths, size):
    counts, tensors = arguments(lengths, size, torch.float64)
    assert_same_outputs_and_gradients(run(counts), tensors, ["reference", backend])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lengths", [RAGGED["one"], RAGGED["mixed"], RAGGED["with_empty"]], ids=str)
@every_backend(["packed", "native", "fused"])
def test_backends_of_dilated_grconv_agree_in_every_mode(backend, lengths, mode):
    counts, tensors = arguments(lengths, 5, **MODES[mode])
    assert_same_outputs_and_gradients(run(counts), tensors, ["reference", backend])


@pytest.mark.parametrize("mode", ["shared", "own_for_all"])
@pytest.mark.parametrize("height", [1, 2, 3, 20])
@pytest.mark.parametrize("lengths", [RAGGED["one"], RAGGED["with_empty"], EDGES["edges"]], ids=str)
@every_backend(["packed", "native", "fused"])
def test_backends_of_dilated_grconv_agree_at_every_height(backend, lengths, height, mode):
    counts, tensors = arguments(lengths, 5, torch.float64, **MODES[mode])
    assert_same_outputs_and_gradients(run(counts, height=height), tensors, ["reference", backend])


@every_backend(ALL)
def test_a_node_below_a_height_has_merged_the_last_words_up_to_its_own(backend):
    counts, (leaves, *weights) = arguments([13], 5)
    before = run(counts, height=2)(backend, leaves, *weights)
    for word in range(13):
        changed = leaves.clone()
        changed[word] += 1.0
        after = run(counts, height=2)(backend, changed, *weights)
        differs = (after.nodes != before.nodes).any(dim=1)
        assert differs.tolist() == [position - 4 < word <= position for position in range(13)]
        assert (after.summaries != before.summaries).any() == (word >= 9)
    assert before.gates.size(0) == 12 + 11


@pytest.mark.parametrize("output", ["nodes", "sums", "summaries"])
@every_backend(["packed", "native"])
def test_an_output_of_dilated_grconv_that_nothing_reads_has_no_gradient(backend, output):
    counts, tensors = arguments([7, 1, 4], 5)
    assert_same_outputs_and_gradients(
        lambda name, *given: [getattr(run(counts)(name, *given), output)], tensors, ["reference", backend]
    )


@pytest.mark.parametrize("mode", MODES)
@every_gradient
def test_gradients_of_dilated_grconv_are_those_of_finite_differences(backend, mode):
    counts, tensors = arguments([3, 1, 6, 2], 2, torch.float64, **MODES[mode])
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(lambda *given: run(counts)(backend, *given)[:3], leaves, fast_mode=True)


def equal_gates(size=1, candidate=0.0):
    """Gates of 1/3 and h̃ = tanh(candidate·l)."""
    zero, gates = torch.zeros(1, size, size), torch.zeros(1, 3, size)
    return DilatedGRConvWeights(zero + candidate, zero, zero[0], gates, gates, torch.zeros(1, 3))


@every_backend(ALL)
def test_the_nodes_of_four_words_are_those_worked_out_by_hand(backend):
    """A node is a third of its children's sum, with h̃ = 0; 27, 9, 0, 54 and, another sentence, 3.

    Level 1: 27, 12, 3, 18. Level 2 joins words two apart: 27, 12, (27 + 3)/3, (12 + 18)/3.
    """
    leaves = torch.tensor([[27.0], [3.0], [9.0], [0.0], [54.0]])
    nodes, sums, summaries, gates = within(backend, dilated_grconv)(leaves, equal_gates(), batch_sizes=[2, 1, 1, 1])
    torch.testing.assert_close(nodes.flatten(), torch.tensor([27.0, 3.0, 12.0, 10.0, 10.0]))
    torch.testing.assert_close(
        sums.flatten(), torch.tensor([27.0, 3.0, 9.0 + 12.0, 0.0 + 3.0 + 10.0, 54.0 + 18.0 + 10.0])
    )
    torch.testing.assert_close(summaries.flatten(), torch.tensor([10.0, 3.0]))
    torch.testing.assert_close(gates, torch.full((3 + 2, 3), 1 / 3))


@every_backend(ALL)
def test_the_root_of_two_words_is_that_of_the_published_pyramid(backend):
    counts, (leaves, *weights) = arguments([2, 2, 1], 5)
    found = run(counts)(backend, leaves, *weights)
    expected = grconv(leaves, GRConvWeights(*(one[0] for one in weights)), batch_sizes=counts)
    torch.testing.assert_close(found.summaries, expected.summaries)
    torch.testing.assert_close(found.gates, expected.gates)


@every_backend(ALL)
def test_a_node_has_merged_all_words_before_it_and_none_after(backend):
    """Each word changes the nodes from its own on, and no others; gates that copy left children show the first word."""
    counts, (leaves, *weights) = arguments([13], 5)
    before = run(counts)(backend, leaves, *weights).nodes
    for word in range(13):
        changed = leaves.clone()
        changed[word] += 1.0
        differs = (run(counts)(backend, changed, *weights).nodes != before).any(dim=1)
        assert differs.tolist() == [position >= word for position in range(13)]
    for gate, expected in ((1, leaves[:1].expand(13, 5)), (2, leaves)):
        bias = torch.zeros(1, 3)
        bias[0, gate] = 50.0
        found = run(counts)(backend, leaves, *weights[:5], bias)
        torch.testing.assert_close(found.nodes, expected)
        assert found.gates.argmax(dim=1).eq(gate).all()


@pytest.mark.parametrize(
    ("length", "levels"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (1000, 10)]
)
def test_there_are_as_many_levels_as_the_length_has_doublings(length, levels):
    assert count_levels([1] * length, 0) == levels
    assert count_levels([1] * length, 3) == min(levels, 3)


@every_backend(["packed", "native"])
def test_a_thousand_words_cost_no_more_than_their_nodes(backend):
    counts, tensors = arguments([1000, 3], 4, torch.float64)
    gates = run(counts)(backend, *tensors).gates
    assert gates.size(0) == sum(n - 2**level for n in (1000, 3) for level in range(10) if n > 2**level)
    assert not gates.requires_grad
    assert_same_outputs_and_gradients(run(counts), tensors, ["reference", backend])


@needs_native
@pytest.mark.parametrize("lengths", [[9] * 150, [9] * 150 + [8, 5, 3], list(range(60, 0, -1))], ids=len)
@pytest.mark.parametrize("size", [130])
def test_left_children_are_read_where_they_lie_or_copied(lengths, size):
    """Long runs of left children are read in place, short ones are copied for the weights' gradients."""
    counts, tensors = arguments(lengths, size, torch.float64)
    assert_same_outputs_and_gradients(run(counts), tensors, ["packed", "native"])


@every_backend(ALL)
def test_levels_above_the_last_set_share_it(backend):
    """Nine words have four levels: with two sets, those of the second, third and fourth are the same."""
    counts, (leaves, *weights) = arguments([9, 4], 5, sets=2)
    written_out = [one[torch.tensor([0, 1, 1, 1, 1])] for one in weights]
    torch.testing.assert_close(run(counts)(backend, leaves, *weights), run(counts)(backend, leaves, *written_out))


def test_wrong_shapes_and_names_given_to_dilated_grconv_are_refused_by_name():
    counts, (leaves, *weights) = arguments([2], 3)
    weights = DilatedGRConvWeights(*weights)
    with pytest.raises(ValueError, match=r"width 3, the weight 'gate_left' must be \(3, 3\), not \(2, 3\)"):
        dilated_grconv(leaves, weights._replace(gate_left=torch.zeros(1, 2, 3)), batch_sizes=counts)
    with pytest.raises(ValueError, match="the weight 'right' must have 1 sets, not 2"):
        dilated_grconv(leaves, weights._replace(right=torch.zeros(2, 3, 3)), batch_sizes=counts)
    with pytest.raises(ValueError, match="the weight 'bias' must have 1 sets, not 0"):
        dilated_grconv(leaves, weights._replace(bias=torch.zeros(0, 3)), batch_sizes=counts)
    with pytest.raises(ValueError, match="3 leaves are expected, but there are 2"):
        dilated_grconv(leaves, weights, batch_sizes=[2, 1])


def test_dilated_grconv_of_no_words_is_empty():
    _, (_, *weights) = arguments([2], 3)
    output = dilated_grconv(torch.zeros(0, 3), DilatedGRConvWeights(*weights), batch_sizes=[])
    assert all(rows.shape == (0, 3) for rows in output)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("size", [5, 1000])
def test_fused_dilated_grconv_agrees_on_a_gpu(size):
    counts, tensors = arguments([7, 1, 63, 2], size, torch.float64, sets=3)
    assert_same_outputs_and_gradients(run(counts), [tensor.cuda() for tensor in tensors], ["packed", "fused"])
