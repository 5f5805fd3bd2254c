import os
import tracemalloc
from dataclasses import astuple

import numpy as np
import pytest
from sacrebleu.significance import PairedTest

from recurrent_mt.metrics import (
    METRICS,
    SEED,
    SentenceStatistics,
    bootstrap_p_value,
    meteor,
    randomization_p_value,
    resample_scores,
    sign_systems,
    statistics,
)
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


def bootstrap(counts, resamples=1000, seed=SEED):
    """The p-value of each system but the first, against the first."""
    drawn = [resample_scores([one], resamples, seed) for one in counts.values()]
    baseline, *values = (one.score().value for one in counts.values())
    return [bootstrap_p_value(value - baseline, one, drawn[0]) for value, one in zip(values, drawn[1:], strict=True)]


def randomize(counts, resamples=10_000, seed=SEED):
    """The same by approximate randomization."""
    baseline, *others = counts.values()
    return [randomization_p_value(one, baseline, trials=resamples, seed=seed) for one in others]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_bootstrap_equals_the_sacrebleu_command(command, metric):
    counts = counted(metric)
    baseline, *others = (row[PRINTED_NAMES[metric]] for row in command["bs"])
    assert bootstrap(counts, 200) == [row["p_value"] for row in others]
    for one, expected in zip(counts.values(), (baseline, *others), strict=True):
        found = one.score(resamples=200)
        assert found.value == expected["score"]
        # With numpy 2, sacrebleu computes these in single precision.
        assert astuple(found.interval) == pytest.approx((expected["mean"], expected["ci"]), rel=1e-5)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_randomization_equals_the_sacrebleu_command(command, metric):
    _, *others = (row[PRINTED_NAMES[metric]] for row in command["ar"])
    assert randomize(counted(metric), 300) == [row["p_value"] for row in others]


@pytest.mark.parametrize(("test", "function"), [("bs", bootstrap), ("ar", randomize)])
def test_meteor_is_tested_as_sacrebleu_would(monkeypatch, test, function):
    monkeypatch.setenv("SACREBLEU_SEED", "5")
    signatures, columns = PairedTest(
        list(SYSTEMS.items()), {"METEOR": meteor(None, False)}, [REFERENCES], test_type=test, n_samples=100
    )()
    counts = counted("meteor")
    assert function(counts, 100, 5) == [one.p_value for one in columns["METEOR"][1:]]
    assert sign_systems(counts.values(), **{test: 100, "seed": 5}) == str(signatures["METEOR"])


@pytest.mark.parametrize("metric", METRICS)
def test_a_worse_system_differs_and_a_similar_one_does_not(metric):
    for like_it, worse in (bootstrap(counted(metric)), randomize(counted(metric), 1000)):
        assert worse < 0.05 < like_it


def test_randomization_has_room_for_many_sentences():
    """A matrix of 1,000 x 5,000 numbers of 8 bytes would be 40 MB; it is drawn in blocks that make it up."""
    generator = np.random.default_rng(1)
    metric = counted("bleu")["baseline"].metric
    draws = (generator.integers(1, 9, size=(5000, 10)).astype(float) for _ in range(2))
    one, other = (SentenceStatistics(metric, rows) for rows in draws)
    tracemalloc.start()
    try:
        p_value = randomization_p_value(other, one, trials=1000)
        assert tracemalloc.get_traced_memory()[1] < 25e6
    finally:
        tracemalloc.stop()
    exchanged = np.random.default_rng(SEED).integers(2, size=(1000, 5000), dtype=bool)
    sums = [drawn @ one.rows + ~drawn @ other.rows for drawn in (exchanged, ~exchanged)]
    distances = np.abs(one.score_sums(sums[0]) - one.score_sums(sums[1]))
    assert p_value == (np.sum(distances > abs(one.score().value - other.score().value)) + 1) / 1001


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("function", [bootstrap, randomize])
def test_a_system_does_not_differ_from_itself(metric, function):
    systems = {"one": SYSTEMS["worse"], "the same": SYSTEMS["worse"]}
    assert function(counted(metric, systems), 20) == [1]


def test_a_subset_is_tested_as_its_strings_would_be():
    sentences = [1, 4, 5, 8, 20, 21, 22]
    subsets = {name: counts.select(sentences) for name, counts in counted("bleu").items()}
    systems = {name: [hypotheses[index] for index in sentences] for name, hypotheses in SYSTEMS.items()}
    strings = counted("bleu", systems, [REFERENCES[index] for index in sentences])
    assert bootstrap(subsets, 50) == bootstrap(strings, 50)


def test_the_seed_decides_and_leaves_no_trace(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    counts = counted("chrf")["worse"]
    first, again, other = (resample_scores([counts], 50, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert os.environ["SACREBLEU_SEED"] == "7"
    monkeypatch.delenv("SACREBLEU_SEED")
    assert resample_scores([counts], 50, 1).tolist() == first
    assert "SACREBLEU_SEED" not in os.environ
