import numpy as np
import pytest

from recurrent_mt.metrics import METRICS, score, statistics
from tests.metrics.processes import spy_on_processes
from tests.metrics.translations import references, translations

REFERENCES = references(40)
HYPOTHESES = translations(REFERENCES, errors=0.3)
REFERENCES[7] = HYPOTHESES[11] = REFERENCES[13] = HYPOTHESES[13] = ""

SUBSETS = {
    "all": range(40),
    "some": [3, 7, 11, 13, 30, 31],
    "out of order": [30, 2, 9],
    "with an empty hypothesis": [11, 12],
    "one": [5],
    "one that is empty": [13],
}


def strings(sentences):
    return [HYPOTHESES[index] for index in sentences], [REFERENCES[index] for index in sentences]


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("sentences", SUBSETS.values(), ids=SUBSETS)
def test_a_subset_has_the_score_of_its_strings(name, sentences):
    subset = statistics(name, HYPOTHESES, REFERENCES).select(sentences)
    hypotheses, references = strings(sentences)
    assert len(subset) == len(hypotheses)
    assert subset.score() == score(name, hypotheses, references)
    assert subset.score(resamples=20, seed=3) == score(name, hypotheses, references, resamples=20, seed=3)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_and_intervals_are_those_of_the_metric_itself(monkeypatch, name, lowercase):
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    expected = METRICS[name](None, lowercase).corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=200)
    result = statistics(name, HYPOTHESES, REFERENCES, lowercase=lowercase).score(resamples=200, seed=77)
    assert result.value == expected.score
    # With numpy 2, sacrebleu computes these in single precision.
    interval = result.interval.mean, result.interval.half_width
    assert interval == pytest.approx((float(expected._mean), float(expected._ci)), rel=1e-5)
    assert result.details == expected._verbose


@pytest.mark.parametrize("name", METRICS)
def test_the_number_of_processes_changes_no_statistics(monkeypatch, name):
    expected = statistics(name, HYPOTHESES, REFERENCES)
    used = spy_on_processes(monkeypatch, block=9)
    counted = statistics(name, HYPOTHESES, REFERENCES, jobs=2)
    assert used == ([2] if name in ("meteor", "ter") else [])
    np.testing.assert_array_equal(counted.rows, expected.rows)
    assert counted.score(resamples=20) == expected.score(resamples=20)


def test_sentence_scores_are_those_of_one_sentence_files():
    for hypothesis, reference, value in zip(
        HYPOTHESES, REFERENCES, statistics("chrf", HYPOTHESES, REFERENCES).score_sentences(), strict=True
    ):
        assert value == pytest.approx(score("chrf", [hypothesis], [reference]).value)
    assert statistics("chrf", REFERENCES[:3], REFERENCES[:3]).score_sentences() == [pytest.approx(100)] * 3


@pytest.mark.parametrize("nobody", [[], range(0)])
def test_an_empty_subset_says_so(nobody):
    subset = statistics("ter", HYPOTHESES, REFERENCES).select(nobody)
    assert len(subset) == 0
    with pytest.raises(ValueError, match="TER: there are no sentences to score"):
        subset.score()


def test_systems_are_resampled_alike():
    counts = statistics("bleu", HYPOTHESES, REFERENCES)
    lengths = [
        statistics("bleu", hypotheses, REFERENCES).resampled_sums(10)[:, 1] for hypotheses in (HYPOTHESES, REFERENCES)
    ]
    assert np.array_equal(*lengths)
    assert not np.array_equal(counts.resampled_sums(10), counts.resampled_sums(10, seed=1))
