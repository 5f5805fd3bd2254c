"""Paired tests of systems against a baseline: those of sacrebleu's command, on statistics that are counted once.

sacrebleu's own functions take texts and count them again, and read their seed from the environment; the tests of this
module compare both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .sentence_statistics import SEED, Interval, Score, SentenceStatistics, estimate_interval

#: Resamples at a time. numpy takes booleans from words of 32 bits and begins each draw with a new one: only of whole
#: words, draws of blocks are the draw of everything.
_BLOCK = 256


@dataclass(frozen=True)
class PairedResult:
    """A system compared with the baseline."""

    name: str
    score: Score  # with its interval, if there is one
    #: of the difference from the baseline; None for the baseline itself, and if there is only one sentence, which
    #: cannot tell a difference from chance
    p_value: float | None

    @property
    def interval(self) -> Interval | None:
        """The score's interval."""
        return self.score.interval


def paired_bootstrap(
    systems: Mapping[str, SentenceStatistics], *, resamples: int = 1000, seed: int = SEED
) -> list[PairedResult]:
    """Paired bootstrap (Koehn 2004, in the form of Moses) of each system against the first one, under one metric.

    Scores, intervals, and p-values are those of ``sacrebleu --paired-bs``, with two exceptions: for systems with equal
    scores, p is 1, where sacrebleu has its smallest value, 1 / (resamples + 1), even for a system against itself; and a
    single sentence has neither interval nor p-value.

    Args:
        systems: name -> statistics of the same sentences, in the same order, under the same metric.
        resamples: for the test and for the intervals.
        seed: at least 1, because sacrebleu takes 0 to mean no seed.

    Raises:
        ValueError: for fewer than two systems, for systems with unequal counts or signatures, and for unusable numbers
            of resamples or seeds.
    """
    check_systems(systems, resamples, seed)
    scores = {name: counts.score() for name, counts in systems.items()}
    drawn = {name: resample_scores([counts], resamples, seed) for name, counts in systems.items()}
    if is_testable(systems):
        signature = sign_systems(systems.values(), seed=seed, bs=resamples)
        intervals = {name: estimate_interval(values) for name, values in drawn.items()}
        scores = {name: replace(scores[name], signature=signature, interval=intervals[name]) for name in systems}
    return pair_results(
        systems,
        scores,
        lambda name, baseline, difference: bootstrap_p_value(difference, drawn[name], drawn[baseline]),
    )


def paired_randomization(
    systems: Mapping[str, SentenceStatistics], *, resamples: int = 10_000, confidence: int = 0, seed: int = SEED
) -> list[PairedResult]:
    """Paired approximate randomization (Riezler and Maxwell 2005, in the form of multeval) against the first system.

    Like `paired_bootstrap`, with the p-values of ``sacrebleu --paired-ar``; ``resamples`` is how often sentences are
    exchanged at random between two systems, ``confidence`` how many bootstrap resamples an interval of each score has.
    """
    check_systems(systems, resamples, seed)
    scores = {name: counts.score(resamples=confidence, seed=seed) for name, counts in systems.items()}
    if is_testable(systems):
        signature = sign_systems(systems.values(), seed=seed, ar=resamples, bs=confidence or None)
        scores = {name: replace(score, signature=signature) for name, score in scores.items()}

    def exchange_sentences(name: str, baseline: str, difference: float) -> float:
        one, other = systems[baseline], systems[name]
        distances = []
        for exchanged in draw_exchanges(resamples, len(one), seed):
            mixed = exchanged @ one.rows + ~exchanged @ other.rows, ~exchanged @ one.rows + exchanged @ other.rows
            distances.append(np.abs(one.score_sums(mixed[0]) - one.score_sums(mixed[1])))
        return share_above(difference, np.concatenate(distances))

    return pair_results(systems, scores, exchange_sentences)


def draw_exchanges(resamples: int, sentences: int, seed: int) -> Iterator[np.ndarray]:
    """Blocks (`_BLOCK` or fewer, sentences) of the array that one draw of all resamples would be.

    A product with such an array makes numbers of 8 bytes of it, which all resamples together would have no room for.
    """
    generator = np.random.default_rng(seed)
    for first in range(0, resamples, _BLOCK):
        yield generator.integers(2, size=(min(_BLOCK, resamples - first), sentences), dtype=bool)


def resample_scores(seeds: Sequence[SentenceStatistics], resamples: int, seed: int = SEED) -> np.ndarray:
    """(resamples,): a system's score on sentences drawn with replacement, the mean over its training seeds.

    Args:
        seeds: of each training, the statistics of the same sentences.
        resamples: how often sentences are drawn. The draws are those of `SentenceStatistics.resampled_sums`, the same
            for all trainings and systems.
        seed: of the draws.
    """
    return np.mean([one.score_sums(one.resampled_sums(resamples, seed)) for one in seeds], axis=0)


def bootstrap_p_value(difference: float, resampled: np.ndarray, baseline: np.ndarray) -> float:
    """The p-value of the paired bootstrap (Koehn 2004) as sacrebleu and Moses have it.

    The distances between resampled scores are centered on their mean, and those above the observed distance are
    counted. The absolute value is taken before centering, so where a difference is clear, one tail is counted: p is
    about half of that of a two-sided test.

    Args:
        difference: between the system's score and the baseline's, of several seeds between their means.
        resampled: `resample_scores` of the system.
        baseline: the same of the baseline, by the same draws.
    """
    distances = np.abs(resampled - baseline)
    return share_above(difference, distances - distances.mean())


def share_above(difference: float, simulated: np.ndarray) -> float:
    """The share of simulated distances (resamples,) above the observed one, which is a test's p-value.

    One is added above and below, as in sacrebleu; equal scores have a p of 1.
    """
    return float(np.sum(simulated > abs(difference)) + 1) / (len(simulated) + 1) if difference else 1.0


def is_testable(systems: Mapping[str, SentenceStatistics]) -> bool:
    """Whether there is more than one sentence: one cannot tell a difference from chance."""
    return len(next(iter(systems.values()))) > 1


def sign_systems(systems: Iterable[SentenceStatistics], **resampling: int | None) -> str:
    """The signature of systems that are scored alike, with what decides a test."""
    first, *others = systems
    signature = replace(first, normalized=any(counts.normalized for counts in (first, *others))).sign()
    for key, value in resampling.items():
        signature.update(key, value)
    return str(signature)


def check_systems(systems: Mapping[str, SentenceStatistics], resamples: int, seed: int) -> None:
    """Raises ValueError unless systems are scored alike on the same sentences, and the test can be run."""
    if len(systems) < 2:
        raise ValueError(f"{len(systems)} system: a paired test compares others with the first one")
    (first, baseline), *others = systems.items()
    if not len(baseline):
        raise ValueError("there are no sentences to test")
    for name, counts in others:
        if len(counts) != len(baseline):
            raise ValueError(f"{name} has {len(counts)} sentences, {first} has {len(baseline)}")
        signature, expected = (str(each.metric.get_signature()) for each in (counts, baseline))
        if signature != expected:
            raise ValueError(f"{name} is scored as {signature}, {first} as {expected}")
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}: a paired test needs at least 2 (1000 is usual)")
    if seed < 1:
        raise ValueError(f"seed is {seed}: a paired test needs at least 1")


def pair_results(
    systems: Mapping[str, SentenceStatistics],
    scores: Mapping[str, Score],
    test: Callable[[str, str, float], float],
) -> list[PairedResult]:
    """A result for each system, with the p-value of a test of its name, the baseline's, and their difference.

    A single sentence has none.
    """
    baseline, *others = systems
    results = [PairedResult(baseline, scores[baseline], None)]
    for name in others:
        p_value = None
        if is_testable(systems):
            p_value = test(name, baseline, scores[name].value - scores[baseline].value)
        results.append(PairedResult(name, scores[name], p_value))
    return results
