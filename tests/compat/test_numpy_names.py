"""What fairseq does with names that numpy has dropped works on this numpy."""

import importlib

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset, ListDataset, TokenBlockDataset, data_utils
from fairseq.modules.dynamic_crf_layer import DynamicCRF

from fairseq_compat import NEEDED

SENTENCES = [torch.tensor([4, 5, 2]), torch.tensor([6, 2]), torch.tensor([7, 8, 9, 2])]
SIZES = [len(sentence) for sentence in SENTENCES]


def test_the_tokens_of_sentence_pairs_are_counted():
    pairs = LanguagePairDataset(ListDataset(SENTENCES), SIZES, Dictionary(), ListDataset(SENTENCES[::-1]), SIZES[::-1])
    assert pairs.num_tokens_vec(np.array([0, 1])).tolist() == [4, 2]
    assert LanguagePairDataset(ListDataset(SENTENCES), SIZES, Dictionary()).num_tokens_vec([0, 1]).tolist() == [3, 2]


def test_text_is_cut_into_one_block_a_sentence():
    blocks = TokenBlockDataset(ListDataset(SENTENCES), SIZES, None, pad=1, eos=2, break_mode="eos")
    assert [block.tolist() for block in blocks] == [sentence.tolist() for sentence in SENTENCES]


def test_spans_that_do_not_overlap_are_masked():
    mask = data_utils.compute_mask_indices((2, 40), None, 0.5, 5, no_overlap=True)
    assert mask.shape == (2, 40) and mask.any(axis=1).all()


def test_the_crf_layer_scores_a_sentence():
    torch.manual_seed(1)
    layer = DynamicCRF(num_embedding=12, low_rank=2, beam_size=4)
    words = torch.tensor([[3, 4, 5]])
    score = layer(torch.randn(1, 3, 12), words, torch.ones_like(words, dtype=torch.bool))
    assert score.isfinite().all() and (score < 0).all()


def test_sentences_are_sorted_into_buckets_of_lengths():
    """What ``--num-batch-buckets`` does."""
    pairs = LanguagePairDataset(
        *(ListDataset(SENTENCES), SIZES, Dictionary(), ListDataset(SENTENCES), SIZES, Dictionary()), num_buckets=2
    )
    assert [len(pairs[number]["source"]) for number in range(3)] == [3, 3, 4]
    assert data_utils.get_buckets(np.array([1, 2, 3, 9]), 3).tolist() == [2, 3, 9]


@pytest.mark.parametrize("name", NEEDED["numpy_names"])
def test_only_fairseqs_view_of_numpy_has_the_names(name):
    module = importlib.import_module(name)
    assert module.np.int is int and module.np.float is float and module.np.compat.long is int
    assert module.np.float64 is np.float64 and module.np.linalg is np.linalg
    assert not hasattr(np, "int") and not hasattr(np, "float")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.np.no_such_name
