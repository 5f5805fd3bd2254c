import itertools
import os
import tracemalloc

import numpy as np
import pytest
from sacrebleu.significance import PairedTest

from recurrent_mt.metrics import (
    METRICS,
    SEED,
    SentenceStatistics,
    exchange,
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
    options = "-m", "bleu", "chrf", "ter", "--paired-ar", "--paired-ar-n", "300"
    return sacrebleu_command(tmp_path_factory.mktemp("ar"), SYSTEMS.values(), REFERENCES, *options)


def randomize(counts, resamples=10_000, seed=SEED):
    """The p-value of each system but the first, against the first."""
    baseline, *others = counts.values()
    return [randomization_p_value([one], [baseline], trials=resamples, seed=seed) for one in others]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_randomization_equals_the_sacrebleu_command(command, metric):
    """Trials with exactly the observed difference count here and not there: TER has some, whose edits are few."""
    expected = [row[PRINTED_NAMES[metric]]["p_value"] for row in command[1:]]
    baseline, *others = counted(metric).values()
    exchanged = np.random.default_rng(SEED).integers(2, size=(300, len(REFERENCES)), dtype=bool)
    found, ties = [], []
    for one in others:
        distances = np.abs(exchange(one, baseline, exchanged))
        observed = abs(one.score().value - baseline.score().value)
        found.append((np.sum(distances > observed) + 1) / 301)
        ties.append(np.sum(distances == observed) / 301)
    assert found == expected
    assert randomize(counted(metric), 300) == pytest.approx(np.add(expected, ties), abs=1e-12)
    assert any(ties) == (metric == "ter")


def test_meteor_is_tested_as_sacrebleu_would(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "5")
    signatures, columns = PairedTest(
        list(SYSTEMS.items()), {"METEOR": meteor(None, False)}, [REFERENCES], test_type="ar", n_samples=100
    )()
    counts = counted("meteor")
    assert randomize(counts, 100, 5) == [one.p_value for one in columns["METEOR"][1:]]
    assert sign_systems(counts.values(), ar=100, seed=5) == str(signatures["METEOR"])


@pytest.mark.parametrize("metric", METRICS)
def test_a_worse_system_differs_and_a_similar_one_does_not(metric):
    like_it, worse = randomize(counted(metric), 1000)
    assert worse < 0.05 < like_it


def test_randomization_has_room_for_many_sentences():
    """A matrix of 1,000 x 5,000 numbers of 8 bytes would be 40 MB; it is drawn in blocks that make it up."""
    generator = np.random.default_rng(1)
    metric = counted("bleu")["baseline"].metric
    draws = (generator.integers(1, 9, size=(5000, 10)).astype(float) for _ in range(2))
    one, other = (SentenceStatistics(metric, rows) for rows in draws)
    tracemalloc.start()
    try:
        p_value = randomization_p_value([other], [one], trials=1000)
        assert tracemalloc.get_traced_memory()[1] < 25e6
    finally:
        tracemalloc.stop()
    exchanged = np.random.default_rng(SEED).integers(2, size=(1000, 5000), dtype=bool)
    sums = [drawn @ one.rows + ~drawn @ other.rows for drawn in (exchanged, ~exchanged)]
    distances = np.abs(one.score_sums(sums[0]) - one.score_sums(sums[1]))
    assert p_value == (np.sum(distances > abs(one.score().value - other.score().value)) + 1) / 1001


def test_one_sentence_that_differs_is_no_difference():
    """Each exchange gives the observed difference or its opposite; sacrebleu, which counts greater ones, has 0.0001."""
    other = [*REFERENCES[:-1], "a red house."]
    counts = counted("bleu", {"perfect": REFERENCES, "but for one": other})
    assert randomize(counts, 100) == [1]


def test_p_of_few_sentences_equals_the_enumeration_of_all_exchanges():
    counts = [one.select(range(8)) for one in counted("chrf").values()]
    first, second = counts[0], counts[2]
    mixed = [np.array(signs)[:, None] for signs in itertools.product((False, True), repeat=8)]
    differences = np.array(
        [
            first.score_of_sum(np.where(signs, first.rows, second.rows).sum(axis=0)).score
            - first.score_of_sum(np.where(signs, second.rows, first.rows).sum(axis=0)).score
            for signs in mixed
        ]
    )
    expected = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-9)
    assert 0.01 < expected < 0.5, "a p that tests can be told apart by"
    assert randomization_p_value([first], [second], trials=20_000) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("baseline", [["baseline"], ["baseline", "worse"], ["baseline", "like it", "worse"]])
def test_of_several_trainings_the_means_are_tested(baseline):
    """A sentence is exchanged in all of them; where one system has fewer, each of them has several partners."""
    counts = counted("ter")
    system, others = [counts["like it"], counts["worse"]], [counts[name] for name in baseline]
    exchanged = np.random.default_rng(SEED).integers(2, size=(200, len(REFERENCES)), dtype=bool)
    number = len(system) * len(others)
    differences = np.zeros(200)
    for place in range(number):
        one, other = system[place % 2], others[place % len(others)]
        sums = [drawn @ other.rows + ~drawn @ one.rows for drawn in (exchanged, ~exchanged)]
        differences += (one.score_sums(sums[1]) - one.score_sums(sums[0])) / number
    means = [np.mean([one.score().value for one in group]) for group in (system, others)]
    expected = (np.sum(np.abs(differences) >= abs(means[0] - means[1]) - 1e-9) + 1) / 201
    assert randomization_p_value(system, others, trials=200) == expected


@pytest.mark.parametrize("metric", METRICS)
def test_a_system_does_not_differ_from_itself(metric):
    systems = {"one": SYSTEMS["worse"], "the same": SYSTEMS["worse"]}
    assert randomize(counted(metric, systems), 20) == [1]


def test_the_seed_decides_and_leaves_no_trace(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    counts = counted("chrf")["worse"]
    first, again, other = (resample_scores([counts], 50, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert os.environ["SACREBLEU_SEED"] == "7"
    monkeypatch.delenv("SACREBLEU_SEED")
    assert resample_scores([counts], 50, 1).tolist() == first
    assert "SACREBLEU_SEED" not in os.environ
