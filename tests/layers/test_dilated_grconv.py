"""What is special about the dilated grConv: what its annotations are, and what it costs in parameters."""

import math

import pytest
import torch

from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.layers.grconv import DilatedGRConvEncoder, waves
from tests.kernels.batches import random
from tests.layers.test_encoders import EMBED, HIDDEN, batch, sentences
from tests.tolerances import INVARIANCE


def encoder(**options):
    """Encoders that differ in their options alone."""
    result = DilatedGRConvEncoder(EMBED, 2 * HIDDEN, **options)
    with torch.no_grad():
        for seed, parameter in enumerate(result.parameters()):
            parameter.copy_(0.4 * random(*parameter.shape, seed=seed))
    return result


def alone(layer, sentence):
    return layer(*batch([sentence], left_pad=True))


def the_longest():
    return max(sentences(), key=len)


def test_the_backward_direction_is_the_forward_one_of_the_reversed_sentence():
    layer = encoder()
    with torch.no_grad():
        layer.leaves.weight[HIDDEN:], layer.leaves.bias[HIDDEN:] = (
            layer.leaves.weight[:HIDDEN],
            layer.leaves.bias[:HIDDEN],
        )
    layer.directions[1].load_state_dict(layer.directions[0].state_dict())
    forward, backward = (alone(layer, sentence) for sentence in (the_longest(), the_longest().flip(0)))
    torch.testing.assert_close(forward.annotations[0, :, :HIDDEN], backward.annotations[0].flip(0)[:, HIDDEN:])
    torch.testing.assert_close(forward.summary[0, :HIDDEN], backward.summary[0, HIDDEN:])


def test_each_part_of_an_annotation_knows_the_words_on_its_side():
    layer, sentence = encoder(), the_longest()
    before = alone(layer, sentence).annotations[0]
    for word in range(len(sentence)):
        changed = sentence.clone()
        changed[word] += 1.0
        differs = alone(layer, changed).annotations[0] != before
        assert differs[:, :HIDDEN].any(dim=1).tolist() == [position >= word for position in range(len(sentence))]
        assert differs[:, HIDDEN:].any(dim=1).tolist() == [position <= word for position in range(len(sentence))]


def test_with_a_height_a_part_knows_the_last_words_on_its_side():
    layer, sentence = encoder(height=1), the_longest()
    before = alone(layer, sentence).annotations[0]
    for word in range(len(sentence)):
        changed = sentence.clone()
        changed[word] += 1.0
        differs = alone(layer, changed).annotations[0] != before
        assert differs[:, :HIDDEN].any(dim=1).nonzero().flatten().tolist() == [word, word + 1][: len(sentence) - word]
        assert differs[:, HIDDEN:].any(dim=1).nonzero().flatten().tolist() == [word - 1, word][word == 0 :]


def tops(layer, sentence):
    """The highest node of each word, in both directions: (n, 2H)."""
    embedded, mask = batch([sentence], left_pad=True)
    forward, backward = layer.merge(embedded, make_packing(mask))
    return torch.cat([forward.nodes, backward.nodes.flip(0)], dim=1)


def test_the_summary_is_the_two_nodes_that_have_merged_all_words():
    top = tops(encoder(), the_longest())
    summary = alone(encoder(), the_longest()).summary[0]
    torch.testing.assert_close(summary, torch.cat([top[-1, :HIDDEN], top[0, HIDDEN:]]), **INVARIANCE)


def test_the_summary_is_each_units_largest_number_over_the_words():
    layer = encoder(summary="max")
    torch.testing.assert_close(alone(layer, the_longest()).summary, alone(layer, the_longest()).annotations.amax(dim=1))


def test_annotations_are_sums_of_nodes_and_leaves():
    """A sentence of one word has its leaf alone; of two words, the second one's sum is its leaf and the root."""
    one, two = the_longest()[:1], the_longest()[:2]
    leaves = encoder().leaves(two)
    torch.testing.assert_close(alone(encoder(), one).annotations[0], leaves[:1])
    forward = tops(encoder(), two)[:, :HIDDEN] + torch.stack([torch.zeros(HIDDEN), leaves[1, :HIDDEN]])
    torch.testing.assert_close(alone(encoder(), two).annotations[0][:, :HIDDEN], forward)


def test_equal_phrases_differ_by_their_positions_alone():
    phrase = random(3, EMBED, seed=5)
    twice = torch.cat([phrase, phrase])
    layer, without = encoder(height=1, positions=True), encoder(height=1)
    layer.load_state_dict(without.state_dict(), strict=False)
    # With height 1, a word knows its neighbors: those of the middle words of both phrases are the same.
    first, second = alone(layer, twice).annotations[0, [1, 4]]
    assert (first - second).abs().max() > 0.01
    torch.nn.init.zeros_(layer.positions.weight)
    annotations = alone(layer, twice).annotations[0]
    torch.testing.assert_close(annotations[1], annotations[4], **INVARIANCE)
    torch.testing.assert_close(annotations, alone(without, twice).annotations[0], **INVARIANCE)


def test_waves_are_sines_and_cosines_of_halved_positions():
    found = waves(200, like=torch.zeros(0))
    assert found.shape == (200, 16)
    expected = [math.sin(64), math.sin(1), math.cos(64), math.cos(0.5)]
    torch.testing.assert_close(found[64, [0, 6, 8, 15]], 0.1 * torch.tensor(expected))
    assert len({tuple(row) for row in found.tolist()}) == 200


@pytest.mark.parametrize("sets", [1, 4])
def test_a_dilated_grconv_has_the_parameters_of_its_formula(sets):
    """With H units for a direction: leaves 2(E·H + H), and for both, L sets of 2H² + 6H and H + 3."""
    count = sum(parameter.numel() for parameter in encoder(weight_sets=sets).parameters())
    assert count == 2 * (EMBED + 1) * HIDDEN + 2 * sets * (2 * HIDDEN + 1) * (HIDDEN + 3)
    with_positions = encoder(weight_sets=sets, positions=True).parameters()
    assert sum(parameter.numel() for parameter in with_positions) == count + 16 * 2 * HIDDEN


def test_matrices_begin_orthogonal_on_every_level():
    torch.manual_seed(1)
    for direction in DilatedGRConvEncoder(EMBED, 2 * HIDDEN, weight_sets=3).directions:
        for matrices in (direction.left, direction.right):
            products = matrices @ matrices.transpose(1, 2)
            torch.testing.assert_close(products, torch.eye(HIDDEN).expand(3, -1, -1), rtol=0, atol=1e-5)
            assert not torch.equal(matrices[0], matrices[1])
