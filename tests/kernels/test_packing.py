import pytest
import torch

from recurrent_mt.kernels.packing import make_packing, make_step_packing, padding_at_ends, rows_but_last
from tests.kernels.batches import RAGGED, packing_of, random


@pytest.mark.parametrize("left_pad", [True, False])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_packed_rows_are_the_valid_ones_by_position_longest_sentence_first(lengths, left_pad):
    packing = packing_of(lengths, left_pad=left_pad)
    width = max(lengths)
    padded = torch.full((len(lengths), width), -1)
    for sentence, length in enumerate(lengths):
        start = width - length if left_pad else 0
        padded[sentence, start : start + length] = 100 * sentence + torch.arange(length)
    longest_first = sorted(range(len(lengths)), key=lambda sentence: -lengths[sentence])
    expected = [100 * s + t for t in range(width) for s in longest_first if lengths[s] > t]
    assert packing.pack(padded).tolist() == expected
    assert sum(packing.batch_sizes) == sum(lengths)
    assert [longest_first[place] for place in packing.sentence] == [row // 100 for row in expected]


@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_unpack_is_the_inverse_with_zeros_on_padding(lengths):
    packing = packing_of(lengths)
    rows = random(sum(lengths), 3)
    padded = packing.unpack(rows)
    assert torch.equal(packing.pack(padded), rows)
    assert padded.abs().sum() == pytest.approx(float(rows.abs().sum()), rel=1e-5)


@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_reverse_mirrors_each_sentence(lengths):
    packing = packing_of(lengths, left_pad=False)
    padded = packing.unpack(packing.pack(random(len(lengths), max(lengths), 2))[packing.reverse])
    original = packing.unpack(packing.pack(random(len(lengths), max(lengths), 2)))
    for sentence, length in enumerate(lengths):
        assert torch.equal(padded[sentence, :length], original[sentence, :length].flip(0))


def test_last_takes_the_initial_row_where_a_sentence_is_empty():
    packing = packing_of([3, 0, 7, 1], left_pad=False)
    padded = random(4, 7, 2)
    initial = random(4, 2, seed=1)
    last = packing.last(packing.pack(padded), packing.sort(initial))
    torch.testing.assert_close(last, torch.stack([padded[0, 2], initial[1], padded[2, 6], padded[3, 0]]))


def test_sort_and_unsort_are_inverses():
    packing = packing_of([2, 5, 1, 5])
    rows = random(4, 3)
    assert packing.sort(rows)[:, 0].tolist() == rows[[1, 3, 0, 2], 0].tolist()
    assert torch.equal(packing.unsort(packing.sort(rows)), rows)
    assert not packing.is_sorted and packing_of([5, 5, 2]).is_sorted


def test_a_step_is_the_packing_of_sentences_of_one_word():
    step, full = make_step_packing(3, "cpu"), packing_of([1, 1, 1])
    for name, value, expected in zip(step._fields, step, full):
        assert torch.equal(value, expected) if torch.is_tensor(value) else value == expected, name


def test_padding_inside_a_sentence_is_refused():
    mask = torch.tensor([[False, False, False], [False, True, False]])
    with pytest.raises(ValueError, match="padding inside sentence 1"):
        make_packing(mask)


def test_the_padding_symbol_is_padding_only_at_the_ends_of_a_sentence():
    tokens = torch.tensor([[1, 1, 7, 1, 8, 2], [1, 7, 2, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
    expected = [[True, True, False, False, False, False], [True, False, False, True, True, True], [True] * 6]
    assert padding_at_ends(tokens, 1).tolist() == expected


def test_a_batch_without_positions_is_refused():
    with pytest.raises(ValueError, match="2 sentences has no positions"):
        make_packing(torch.zeros(2, 0, dtype=torch.bool))


@pytest.mark.parametrize("number", [0, 1, 3, 80])
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_rows_but_the_last_are_those_of_shorter_sentences_in_their_packed_order(lengths, number):
    """Row numbers are compared through what they select: the sentence and the position of each row."""
    packing, longest_first = packing_of(lengths), sorted(lengths, reverse=True)
    places = [(position, place) for position, count in enumerate(packing.batch_sizes) for place in range(count)]
    rows = rows_but_last(packing.batch_sizes, number, torch.device("cpu"))
    expected = [(position, place) for position, place in places if position < longest_first[place] - number]
    assert [places[row] for row in rows.tolist()] == expected


@pytest.mark.parametrize("lengths", [[3, 1, 4], [2], [0, 5]])
def test_directions_are_split_joined_and_mirrored_with_their_gradients(lengths):
    packing = packing_of(lengths)
    rows = random(sum(lengths), 6, dtype=torch.float64).requires_grad_()
    before, after = packing.split_directions(rows)
    assert torch.equal(before, rows[:, :3]) and torch.equal(after, rows[packing.reverse][:, 3:])
    assert torch.equal(packing.join_directions(before, after), rows)
    assert torch.equal(packing.mirror(rows), rows[packing.reverse])
    for function in (packing.split_directions, packing.mirror):
        assert torch.autograd.gradcheck(function, [rows]) and torch.autograd.gradgradcheck(function, [rows])
    halves = [half.detach().requires_grad_() for half in (before, after)]
    assert torch.autograd.gradcheck(packing.join_directions, halves)
