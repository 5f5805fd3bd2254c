import numpy as np
import pytest

from recurrent_mt.evaluation.bucket_scores import ScoredSystem, compare, score_buckets
from recurrent_mt.evaluation.buckets import Bucket, Bucketing
from recurrent_mt.evaluation.length_curve import length_curve, windows
from recurrent_mt.metrics import score
from tests.evaluation.test_sets import forgetful, perfect, small


@pytest.fixture(scope="module")
def test_set():
    return small(copies=10)


@pytest.fixture(scope="module")
def scored(test_set):
    return ScoredSystem(forgetful(test_set), test_set, "chrf")


def test_a_bucket_scores_as_a_file_of_its_sentences(test_set, scored):
    sentences = [1, 2, 3, 8]
    for seed, translations in scored.system.translations.items():
        expected = score("chrf", [translations[i] for i in sentences], [test_set.reference[i] for i in sentences])
        assert scored.scores(sentences)[seed] == pytest.approx(expected.value, abs=1e-9)


def test_mean_deviation_and_interval_over_seeds(scored):
    (result,) = score_buckets(scored, Bucketing("all", [Bucket("all", range(60))]), resamples=200)
    values = list(result.by_seed.values())
    assert len(values) == 2 and values[0] != values[1]
    assert result.mean == pytest.approx(np.mean(values))
    assert result.deviation == pytest.approx(np.std(values, ddof=1))
    assert result.low < result.mean < result.high


def test_empty_and_small_buckets(scored):
    bucketing = Bucketing("x", [Bucket("none", []), Bucket("nine", range(9)), Bucket("ten", range(10))])
    empty, nine, ten = score_buckets(scored, bucketing, resamples=20)
    assert (empty.count, empty.mean, empty.deviation, empty.low) == (0, None, None, None)
    assert nine.mean is not None and nine.low is None
    assert ten.low is not None


def test_comparison_is_paired(test_set, scored):
    better = ScoredSystem(perfect(test_set), test_set, "chrf")
    result = compare(better, scored, range(60), resamples=99)
    assert result.difference == pytest.approx(better.total.value - np.mean(list(scored.scores(range(60)).values())))
    assert result.p_value == pytest.approx(1 / 100)
    same = compare(scored, scored, range(60), resamples=99)
    assert (same.difference, same.p_value) == (0, 1)
    assert compare(better, scored, []) is None
    assert compare(better, scored, range(9)).p_value is None


def test_a_translation_too_few_is_refused(test_set):
    system = forgetful(test_set)
    system.translations["2"].pop()
    with pytest.raises(ValueError, match="forgetful, seed 2: 59 translations for 60 references"):
        ScoredSystem(system, test_set, "chrf")


def test_windows_cover_the_lengths_they_say(test_set):
    points = windows(test_set, "source", window=3, fewest=1)
    lengths = [len(words) for words in test_set.source_words]
    for middle, members in points.items():
        assert members == [i for i, length in enumerate(lengths) if middle - 1 <= length <= middle + 1]
    assert max(points) == 8
    assert set(windows(test_set, "source", window=1, fewest=20)) == {2}
    both = windows(test_set, "both", window=10, fewest=1)
    assert all(5 not in [i % 6 for i in members] for n, members in both.items() if n + 5 < 4)
    with pytest.raises(ValueError, match="window is 0"):
        windows(test_set, "source", window=0)


def test_the_curve_falls_where_long_sentences_lose_words(test_set, scored):
    curve = length_curve(scored, test_set, "reference", window=1, fewest=5)
    values = dict(zip(curve.lengths, (point.mean for point in curve.points), strict=True))
    assert sorted(values) == [1, 2, 3, 4, 6, 8]
    assert values[8] < values[6] < values[4] < values[3]
