import numpy as np
import pytest
import torch
from fairseq.data import LanguagePairDataset

from tests.models.building import dictionary
from user_dir.tasks.published_translation import PooledBatchesDataset


def dataset(count=100, longest=12):
    generator = np.random.default_rng(0)
    source, target = dictionary(5, "s"), dictionary(5, "t")
    lengths = generator.integers(1, longest + 1, (2, count))
    sides = [[torch.tensor([4] * n + [2]) for n in side] for side in lengths]
    return LanguagePairDataset(
        sides[0], lengths[0] + 1, source, sides[1], lengths[1] + 1, target, shuffle=True
    ), lengths.max(axis=0)


def batches(k, *, max_words=0, size=8, seed=1):
    pairs, lengths = dataset()
    pooled = PooledBatchesDataset(pairs, batches=k, max_words=max_words)
    np.random.seed(seed)
    return pooled.batch_by_size(pooled.ordered_indices(), max_sentences=size), lengths


def test_every_pair_is_in_one_batch_of_an_epoch():
    made, lengths = batches(3)
    assert sorted(np.concatenate(made)) == list(range(len(lengths)))
    assert [len(batch) for batch in made[:-1]] == [8] * (len(made) - 1)


def test_lengths_rise_within_a_pool_of_k_batches_and_start_again():
    made, lengths = batches(3)
    ordered = lengths[np.concatenate(made)]
    pools = [ordered[start : start + 24] for start in range(0, len(ordered), 24)]
    assert all((np.diff(pool) >= 0).all() for pool in pools)
    assert pools[0][-1] > pools[1][0]


def test_one_batch_at_a_time_is_not_sorted():
    made, lengths = batches(1)
    assert any((np.diff(lengths[batch]) < 0).any() for batch in made)


def test_the_seed_decides_the_order_of_batches():
    assert [b.tolist() for b in batches(3)[0]] == [b.tolist() for b in batches(3)[0]]
    assert [b.tolist() for b in batches(3)[0]] != [b.tolist() for b in batches(3, seed=2)[0]]


def test_pairs_with_a_side_of_more_words_are_dropped():
    made, lengths = batches(3, max_words=7)
    assert sorted(np.concatenate(made)) == np.flatnonzero(lengths <= 7).tolist()


def test_without_pools_the_batches_of_short_pairs_are_fairseqs_own():
    size = {"max_tokens": 60, "max_sentences": 3}
    pairs, lengths = dataset()
    short = PooledBatchesDataset(pairs, batches=0, max_words=7)
    np.random.seed(1)
    made = short.batch_by_size(short.ordered_indices(), **size)
    np.random.seed(1)
    expected = pairs.batch_by_size(np.array([i for i in pairs.ordered_indices() if lengths[i] <= 7]), **size)
    assert [batch.tolist() for batch in made] == [batch.tolist() for batch in expected]


def test_options_of_pooled_batches_that_cannot_be_are_refused_by_name():
    pooled = PooledBatchesDataset(dataset()[0], batches=3, max_words=0)
    with pytest.raises(ValueError, match="--sort-k-batches counts a batch in sentences: leave --max-tokens out"):
        pooled.batch_by_size(np.arange(5), 100, 8)
    with pytest.raises(ValueError, match="--sort-k-batches needs a batch size in sentences: --batch-size"):
        pooled.batch_by_size(np.arange(5), max_tokens=100)
