import pytest
import torch

from recurrent_mt.layers.encoder_output import for_each_hypothesis, keep_sentences, select


@pytest.mark.parametrize(
    ("rows", "sentences", "beam", "kept", "width"),
    [
        ([0, 0, 1, 1], 2, 1, None, 2),  # a search begins
        ([1, 0, 2, 2], 2, 2, None, 2),  # hypotheses of both sentences change places
        ([2, 3], 2, 2, [1], 2),  # the first sentence has ended
        ([0, 1, 2], 3, 1, None, 1),  # greedy
        ([2, 3, 0, 1], 2, 2, [1, 0], 2),  # sentences change places
        ([0, 2, 3], 2, 2, [0, 1, 1], 1),  # unequal numbers of hypotheses
        ([0, 2, 1], 2, 2, [0, 1, 0], 1),  # hypotheses of two sentences in turn
        ([], 2, 2, [], 1),
    ],
)
def test_sentences_are_kept_once_where_hypotheses_stand_side_by_side(rows, sentences, beam, kept, width):
    found, hypotheses = keep_sentences(torch.tensor(rows, dtype=torch.long), sentences=sentences, beam=beam)
    assert (None if found is None else found.tolist(), hypotheses) == (kept, width)


@pytest.mark.parametrize("rows", [[0, 0, 1, 1], [3, 2, 0, 1], [5, 4, 4], [1, 2, 5], [0, 3, 1, 4]])
def test_every_hypothesis_finds_its_sentence(rows):
    field = torch.tensor([10, 20, 30])
    rows = torch.tensor(rows)
    sentences, beam = keep_sentences(rows, sentences=3, beam=2)
    assert for_each_hypothesis(select(field, sentences), beam).tolist() == field[rows // 2].tolist()
