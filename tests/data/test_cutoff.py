import numpy as np
import pytest

from recurrent_mt.data.cutoff import find_cutoff, order_keys


def test_keys_are_in_the_order_of_scores():
    scores = np.array([-np.inf, -3e30, -1.5, -1e-30, 0.0, 1e-30, 1.0, 1.0000001, 9e9, np.inf], np.float32)
    keys = order_keys(scores)
    assert (np.diff(keys.astype(np.int64)) > 0).all()
    assert order_keys(np.float32([-0.0]))[0] == order_keys(np.float32([0.0]))[0]


@pytest.mark.parametrize("wanted", [1, 7, 500, 12_345, 40_000])
@pytest.mark.parametrize("digits", [0, 2, 7])
def test_as_sorting_would(wanted, digits):
    """With few digits many scores are equal, and the earlier pairs go first."""
    rng = np.random.default_rng(wanted)
    scores = rng.normal(0, 3, 5000).round(digits).astype(np.float32)
    words = rng.integers(0, 20, 5000).astype(np.uint32)

    def chunks():
        return ((scores[first : first + 333], words[first : first + 333]) for first in range(0, 5000, 333))

    cutoff = find_cutoff(chunks, wanted)
    taken = np.concatenate([cutoff.take(*chunk) for chunk in chunks()])
    order = np.argsort(scores, kind="stable")
    before = np.cumsum(words[order]) - words[order]
    expected = np.zeros(5000, bool)
    expected[order[before < wanted]] = True
    # Pairs without words after the last one wanted make no difference.
    assert (taken == expected)[words > 0].all()
    assert wanted <= words[taken].sum() < wanted + 20


def test_no_more_words_than_wanted():
    scores, words = np.float32([1, 2]), np.uint32([5, 5])
    assert find_cutoff(lambda: [(scores, words)], 10) is None
    assert find_cutoff(lambda: [(scores, words)], 9) is not None
