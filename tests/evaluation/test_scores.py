import numpy as np
import pytest

from recurrent_mt.evaluation.scores import Bucketing, CountedSystem, Settings, by_window, score_groups
from recurrent_mt.metrics import score as corpus_score
from tests.evaluation.test_sets import forgetful, perfect, small


@pytest.fixture(scope="module")
def test_set():
    return small(copies=10)


@pytest.fixture(scope="module")
def scored(test_set):
    return CountedSystem(forgetful(test_set), test_set, "chrf", Settings())


def test_a_bucket_scores_as_a_file_of_its_sentences(test_set, scored):
    sentences = [1, 2, 3, 8]
    for seed, translations in forgetful(test_set).translations.items():
        expected = corpus_score(
            "chrf", [translations[i] for i in sentences], [test_set.reference[i] for i in sentences]
        )
        assert scored.score_seeds(sentences)[seed] == pytest.approx(expected.value, abs=1e-9)


def score(counted, *buckets, resamples=20):
    """The records over all seeds of one system, the others of several with it as their baseline."""
    bucketing = Bucketing("x", {str(len(members)): members for members in buckets})
    records = score_groups(counted, [bucketing] * len(counted), resamples)
    return [record for record in records if not record.seed]


def test_mean_deviation_and_interval_over_seeds(scored):
    bucketing = Bucketing("all", {"all": range(60)})
    *seeds, result = score_groups([scored], [bucketing], 200)
    values = [record.value for record in seeds]
    assert [record.seed for record in seeds] == ["1", "2"] and values[0] != values[1]
    assert result.value == pytest.approx(np.mean(values))
    assert result.sd == pytest.approx(np.std(values, ddof=1))
    assert result.low < result.value < result.high


def test_empty_and_small_buckets_have_no_interval(scored):
    empty, nine, ten = score([scored], [], range(9), range(10))
    assert (empty.n, empty.value, empty.sd, empty.low) == (0, None, None, None)
    assert nine.value is not None and nine.low is None
    assert ten.low is not None


def test_the_test_against_the_baseline_is_paired(test_set, scored):
    better = CountedSystem(perfect(test_set), test_set, "chrf", Settings())
    baseline, nine, none, result, too_few, nothing = score([scored, better], range(60), range(9), [], resamples=99)
    assert (baseline.p, nine.p, none.p) == (None, None, None)
    assert result.p == pytest.approx(1 / 100)
    assert (too_few.p, nothing.p) == (None, None)
    same = CountedSystem(forgetful(test_set), test_set, "chrf", Settings())
    assert score([scored, same], range(60), resamples=99)[1].p == 1


def test_a_translation_too_few_is_refused(test_set):
    system = forgetful(test_set)
    system.translations["2"].pop()
    with pytest.raises(ValueError, match="forgetful, seed 2: 59 translations for 60 references"):
        CountedSystem(system, test_set, "chrf", Settings())


def test_the_curve_falls_where_long_sentences_lose_words(test_set, scored):
    curve = by_window(test_set, "reference", window=1, fewest=5)
    values = {int(one.bucket): one.value for one in score_groups([scored], [curve], 0) if not one.seed}
    assert sorted(values) == [1, 2, 3, 4, 6, 8]
    assert values[8] < values[6] < values[4] < values[3]
