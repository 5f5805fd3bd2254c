"""Where the spans of a batch are and what they cover, on a batch small enough to write down."""

import pytest
import torch

from recurrent_mt.layers.span_annotations import span_coverage, span_padding, unpack_spans
from tests.kernels.batches import packing_of

#: Sentences of the tokens 1 2 3, 9, and 5 6, packed: single tokens, pairs, the triple.
LEVELS = torch.tensor([1.0, 5, 9, 2, 6, 3, 12, 56, 23, 123])[:, None]


def mask(*, left_pad):
    columns, lengths = torch.arange(3), torch.tensor([3, 1, 2])[:, None]
    return columns < 3 - lengths if left_pad else columns >= lengths


PLACES = {
    # Three columns of single tokens, two of pairs, one of triples.
    True: [[1, 2, 3, 12, 23, 123], [0, 0, 9, 0, 0, 0], [0, 5, 6, 0, 56, 0]],
    False: [[1, 2, 3, 12, 23, 123], [9, 0, 0, 0, 0, 0], [5, 6, 0, 56, 0, 0]],
}


@pytest.mark.parametrize("left_pad", [True, False], ids=["left", "right"])
def test_spans_are_placed_level_by_level_in_the_column_of_their_first_token(left_pad):
    packing = packing_of([3, 1, 2], left_pad=left_pad)
    expected = torch.tensor(PLACES[left_pad], dtype=torch.float)
    for height, columns, spans in [(0, 3, 6), (1, 5, 9), (2, 6, 10)]:
        assert torch.equal(unpack_spans(LEVELS[:spans], packing, height).squeeze(2), expected[:, :columns])
        assert torch.equal(span_padding(mask(left_pad=left_pad), height), expected[:, :columns] == 0)


def test_coverage_shares_a_span_evenly():
    third = 1 / 3
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0.5, 0.5], [third, third, third]]
    torch.testing.assert_close(span_coverage(3, 2, torch.zeros(1)), torch.tensor(expected))


def test_one_token_is_covered_by_itself():
    assert torch.equal(span_coverage(1, 0, torch.zeros(1)), torch.ones(1, 1))
    assert torch.equal(span_padding(torch.zeros(2, 1, dtype=torch.bool), 0), torch.zeros(2, 1, dtype=torch.bool))
