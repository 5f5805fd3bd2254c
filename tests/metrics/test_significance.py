import os
import tracemalloc
from dataclasses import astuple

import numpy as np
import pytest
from sacrebleu.significance import PairedTest

from recurrent_mt.metrics import METRICS, SentenceStatistics, paired_bootstrap, paired_randomization, score, statistics
from recurrent_mt.metrics.builders import meteor
from recurrent_mt.metrics.sentence_statistics import SEED
from tests.metrics.sacrebleu_command import sacrebleu_command
from tests.metrics.translations import references, translations

REFERENCES = references()
SYSTEMS = {
    "baseline": translations(REFERENCES, errors=0.3),
    "like it": translations(REFERENCES, errors=0.3, seed=8),
    "worse": translations(REFERENCES, errors=0.6, seed=4),
}
PRINTED_NAMES = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER", "meteor": "METEOR"}


def counted(metric, systems=SYSTEMS, references=REFERENCES, **options):
    return {name: statistics(metric, hypotheses, references, **options) for name, hypotheses in systems.items()}


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """sacrebleu's own paired tests: system by system, metric by metric."""
    options = {"bs": ["--paired-bs", "--paired-bs-n", "200"], "ar": ["--paired-ar", "--paired-ar-n", "300"]}
    return {
        test: sacrebleu_command(
            tmp_path_factory.mktemp(test), SYSTEMS.values(), REFERENCES, "-m", "bleu", "chrf", "ter", *arguments
        )
        for test, arguments in options.items()
    }


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_bootstrap_equals_the_sacrebleu_command(command, metric):
    results = paired_bootstrap(counted(metric), resamples=200)
    for result, row in zip(results, command["bs"], strict=True):
        expected = row[PRINTED_NAMES[metric]]
        assert (result.score.value, result.p_value) == (expected["score"], expected["p_value"])
        # With numpy 2, sacrebleu computes these in single precision.
        assert astuple(result.interval) == pytest.approx((expected["mean"], expected["ci"]), rel=1e-5)
        assert "|bs:200|seed:12345|" in result.score.signature


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_randomization_equals_the_sacrebleu_command(command, metric):
    results = paired_randomization(counted(metric), resamples=300)
    for result, row in zip(results, command["ar"], strict=True):
        expected = row[PRINTED_NAMES[metric]]
        assert (result.score.value, result.p_value) == (expected["score"], expected["p_value"])
        assert result.interval is None
        assert "|ar:300|seed:12345|" in result.score.signature


@pytest.mark.parametrize(("test", "function"), [("bs", paired_bootstrap), ("ar", paired_randomization)])
def test_meteor_is_tested_as_sacrebleu_would(monkeypatch, test, function):
    monkeypatch.setenv("SACREBLEU_SEED", "5")
    signatures, columns = PairedTest(
        list(SYSTEMS.items()), {"METEOR": meteor(None, False)}, [REFERENCES], test_type=test, n_samples=100
    )()
    results = function(counted("meteor"), resamples=100, seed=5)
    for result, expected in zip(results, columns["METEOR"], strict=True):
        assert (result.score.value, result.p_value) == (expected.score, expected.p_value)
        assert result.score.signature == str(signatures["METEOR"])


@pytest.mark.parametrize("metric", METRICS)
def test_a_worse_system_differs_and_a_similar_one_does_not(metric):
    for results in (paired_bootstrap(counted(metric)), paired_randomization(counted(metric), resamples=1000)):
        assert [result.name for result in results] == list(SYSTEMS)
        baseline, like_it, worse = (result.p_value for result in results)
        assert baseline is None
        assert worse < 0.05 < like_it


def test_randomization_has_room_for_many_sentences():
    """A matrix of 1,000 x 5,000 numbers of 8 bytes would be 40 MB; it is drawn in blocks that make it up."""
    generator = np.random.default_rng(1)
    metric = counted("bleu")["baseline"].metric
    draws = (generator.integers(1, 9, size=(5000, 10)).astype(float) for _ in range(2))
    one, other = (SentenceStatistics(metric, rows) for rows in draws)
    tracemalloc.start()
    try:
        p_value = paired_randomization({"one": one, "other": other}, resamples=1000)[1].p_value
        assert tracemalloc.get_traced_memory()[1] < 25e6
    finally:
        tracemalloc.stop()
    exchanged = np.random.default_rng(SEED).integers(2, size=(1000, 5000), dtype=bool)
    sums = [drawn @ one.rows + ~drawn @ other.rows for drawn in (exchanged, ~exchanged)]
    distances = np.abs(one.score_sums(sums[0]) - one.score_sums(sums[1]))
    assert p_value == (np.sum(distances > abs(one.score().value - other.score().value)) + 1) / 1001


def test_intervals_with_a_randomization_test_are_those_of_the_score():
    results = paired_randomization(counted("ter"), resamples=50, confidence=40, seed=9)
    for result, hypotheses in zip(results, SYSTEMS.values(), strict=True):
        assert result.interval == score("ter", hypotheses, REFERENCES, resamples=40, seed=9).interval
        assert "|bs:40|ar:50|seed:9|" in result.score.signature


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("function", [paired_bootstrap, paired_randomization])
def test_a_system_does_not_differ_from_itself(metric, function):
    systems = {"one": SYSTEMS["worse"], "the same": SYSTEMS["worse"]}
    assert function(counted(metric, systems), resamples=20)[1].p_value == 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("function", [paired_bootstrap, paired_randomization])
def test_one_sentence_gets_no_interval_and_no_p_value(metric, function):
    one = counted(metric, {name: hypotheses[:1] for name, hypotheses in SYSTEMS.items()}, REFERENCES[:1])
    for result in function(one, resamples=20):
        assert (result.p_value, result.interval) == (None, None)


def test_a_subset_is_tested_as_its_strings_would_be():
    sentences = [1, 4, 5, 8, 20, 21, 22]
    subsets = {name: counts.select(sentences) for name, counts in counted("bleu").items()}
    systems = {name: [hypotheses[index] for index in sentences] for name, hypotheses in SYSTEMS.items()}
    strings = counted("bleu", systems, [REFERENCES[index] for index in sentences])
    assert paired_bootstrap(subsets, resamples=50) == paired_bootstrap(strings, resamples=50)


def test_the_seed_decides_and_leaves_no_trace(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    first, again, other = (paired_bootstrap(counted("chrf"), resamples=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first[1].interval != other[1].interval
    assert os.environ["SACREBLEU_SEED"] == "7"
    monkeypatch.delenv("SACREBLEU_SEED")
    assert paired_bootstrap(counted("chrf"), resamples=50, seed=1) == first
    assert "SACREBLEU_SEED" not in os.environ


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"alone": SYSTEMS["worse"]}, {}, "1 system: a paired test compares others with the first one"),
        (SYSTEMS, {"resamples": 1}, "resamples is 1"),
        (SYSTEMS, {"seed": 0}, "seed is 0"),
    ],
)
@pytest.mark.parametrize("function", [paired_bootstrap, paired_randomization])
def test_bad_options_of_a_test_are_refused_by_name(systems, options, message, function):
    with pytest.raises(ValueError, match=message):
        function(counted("bleu", systems), **options)


def test_systems_must_have_been_scored_alike():
    systems = counted("bleu")
    with pytest.raises(ValueError, match="other has 3 sentences, baseline has 30"):
        paired_bootstrap({**systems, "other": systems["worse"].select([1, 2, 3])})
    with pytest.raises(ValueError, match=r"worse is scored as .*case:lc.*, baseline as .*case:mixed"):
        paired_bootstrap({**systems, "worse": counted("bleu", lowercase=True)["worse"]})
    with pytest.raises(ValueError, match="there are no sentences to test"):
        paired_bootstrap({name: counts.select([]) for name, counts in systems.items()})
