"""The gated recursive neural network against a tree built node by node."""

import pytest
import torch

from recurrent_mt.layers.grnn import GatedMerge, GRNNEncoder
from tests.layers.one_sentence import (
    EMBED,
    assert_follows,
    assert_gradients_are_right,
    parameter_count,
    ragged,
    randomized,
)

HIDDEN = 4


def merge_by_loops(merge, left, right):
    """Chen et al. (2015), section 3, number by number."""
    size = len(left)
    children = torch.cat([left, right])
    reset = torch.stack([torch.sigmoid(row @ children) for row in merge.reset.weight])
    candidate = torch.stack([torch.tanh(row @ (reset * children)) for row in merge.candidate.weight])
    mixed = torch.cat([candidate, left, right])
    parent = torch.zeros_like(left)
    for unit in range(size):
        new, kept_left, kept_right = (torch.exp(merge.update.weight[k * size + unit] @ mixed) for k in range(3))
        total = new + kept_left + kept_right
        parent[unit] = (new * candidate[unit] + kept_left * left[unit] + kept_right * right[unit]) / total
    return parent


def encode_by_loops(encoder, words):
    leaves = [encoder.leaves.weight @ word + encoder.leaves.bias for word in words]
    nodes = leaves
    while len(nodes) > 1:
        above = [merge_by_loops(encoder.merge, *nodes[place : place + 2]) for place in range(0, len(nodes) - 1, 2)]
        nodes = above + nodes[len(nodes) - len(nodes) % 2 :]
    return torch.stack(leaves), nodes[0]


def test_the_grnn_of_a_batch_is_that_of_loops_over_each_sentence():
    encoder = GRNNEncoder(EMBED, HIDDEN)
    assert_follows(encoder, lambda words: encode_by_loops(encoder, words))


@pytest.mark.parametrize("lengths", [[5, 1, 7], [1], [2, 2]], ids=str)
def test_gradients_of_the_grnn_are_those_of_finite_differences(lengths):
    assert_gradients_are_right(GRNNEncoder(EMBED, HIDDEN), lengths)


def test_the_grnn_has_the_parameters_of_its_formula():
    assert parameter_count(GRNNEncoder(EMBED, HIDDEN)) == EMBED * HIDDEN + HIDDEN + 15 * HIDDEN**2


def test_a_merge_worked_out_by_hand():
    """All weights zero: the candidate is 0 and the three gates are thirds, so the parent is a third of the sum."""
    merge = GatedMerge(2)
    for parameter in merge.parameters():
        torch.nn.init.zeros_(parameter)
    parent = merge(torch.tensor([[3.0, -6.0]]), torch.tensor([[0.0, 9.0]]))
    torch.testing.assert_close(parent, torch.tensor([[1.0, 1.0]]))


def test_the_gates_are_ordered_new_left_right():
    merge = GatedMerge(1)
    for gate, expected in enumerate([0.0, 5.0, -2.0]):
        for parameter in merge.parameters():
            torch.nn.init.zeros_(parameter)
        with torch.no_grad():
            merge.update.weight[gate, 1] = 100.0  # five hundred, from the left child
        torch.testing.assert_close(merge(torch.tensor([[5.0]]), torch.tensor([[-2.0]])), torch.tensor([[expected]]))


def test_a_sentence_costs_one_merge_less_than_it_has_words_and_a_product_a_level():
    encoder = randomized(GRNNEncoder(EMBED, HIDDEN))
    merged = []
    encoder.merge.register_forward_hook(lambda module, inputs, output: merged.append(len(output)))
    lengths = [5, 1, 13, 0, 8, 2]
    embedded, mask, _ = ragged(lengths, left_pad=True)
    encoder(embedded, mask)
    assert sum(merged) == sum(max(length - 1, 0) for length in lengths)
    assert len(merged) == 4  # 13 → 7 → 4 → 2 → 1, whatever the number of sentences
