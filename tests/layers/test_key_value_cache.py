"""The cache of the decoder's self-attention: it never changes, and it grows without being copied."""

import pytest
import torch

from recurrent_mt.layers.key_value_cache import KeyValueCache
from tests.kernels.batches import random

PADDING = torch.tensor([[False, False, False], [False, True, True]])


def cache():
    return KeyValueCache.of(random(2, 3, 4), PADDING)


def rows(step, sentences=2):
    return random(sentences, 4, seed=100 + step)


def test_the_cache_holds_what_was_appended_in_sentence_order():
    grown, expected, padding = cache(), random(2, 3, 4), PADDING
    for step, order in enumerate([[1, 0], [0, 0, 1], [2, 1, 0], [1], [0, 0]] * 8):
        grown, expected, padding = grown.index_select(torch.tensor(order)), expected[order], padding[order]
        new = rows(step, len(order))
        grown, expected = grown.append(new), torch.cat([expected, new[:, None]], dim=1)
        padding = torch.cat([padding, torch.zeros(len(order), 1, dtype=torch.bool)], dim=1)
        assert torch.equal(grown.keys_and_values, expected) and torch.equal(grown.padding, padding)


@pytest.mark.parametrize("reordered", [False, True])
def test_two_caches_grown_from_one_do_not_overlap(reordered):
    start = cache().append(rows(0))
    if reordered:
        start = start.index_select(torch.tensor([0, 1]))
    before = start.keys_and_values.clone()
    first = start.append(rows(1))
    second = start.append(rows(2)).append(rows(3))
    third = first.append(rows(4))
    assert torch.equal(start.keys_and_values, before)
    for grown, steps in ((first, [1]), (second, [2, 3]), (third, [1, 4])):
        expected = torch.cat([before, torch.stack([rows(step) for step in steps], dim=1)], dim=1)
        assert torch.equal(grown.keys_and_values, expected)


def test_growing_rarely_copies():
    """Of 300 steps only those copy that find no room: as the room doubles, a handful."""
    grown, places = cache(), set()
    for step in range(300):
        grown = grown.append(rows(step))
        places.add(grown.keys_and_values.data_ptr())
    assert len(places) <= 6
    one = cache().index_select(torch.tensor([1, 0]))
    assert one.append(rows(0)).keys_and_values.data_ptr() == one.keys_and_values.data_ptr()


def test_nothing_is_written_in_place_where_gradients_are_wanted():
    start, new = cache(), rows(0).requires_grad_()
    grown = start.append(new).append(rows(1).requires_grad_()).index_select(torch.tensor([1, 1]))
    (gradient,) = torch.autograd.grad((grown.keys_and_values**2).sum(), new)
    torch.testing.assert_close(gradient, torch.stack([torch.zeros(4), 4 * new[1].detach()]))
