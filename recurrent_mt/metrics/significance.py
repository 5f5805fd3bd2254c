"""Paired tests of systems against a baseline: those of sacrebleu's command, on statistics that are counted once.

sacrebleu's own functions take texts and count them again, and read their seed from the environment; the tests of this
module compare both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .sentence_statistics import SEED, SentenceStatistics

#: Resamples at a time. numpy takes booleans from words of 32 bits and begins each draw with a new one: only of whole
#: words, draws of blocks are the draw of everything.
_BLOCK = 256
#: Of approximate randomization, as many as sacrebleu's.
TRIALS = 10_000


def randomization_p_value(
    system: SentenceStatistics, baseline: SentenceStatistics, *, trials: int = TRIALS, seed: int = SEED
) -> float:
    """The p-value of paired approximate randomization (Riezler and Maxwell 2005, in the form of multeval).

    It is that of ``sacrebleu --paired-ar``. In each trial, sentences are exchanged at random between the two.

    Args:
        system: statistics of its sentences.
        baseline: of the same sentences, under the same metric.
        trials: how often sentences are exchanged.
        seed: of the exchanges.
    """
    distances = []
    for exchanged in draw_exchanges(trials, len(baseline), seed):
        mixed = [drawn @ baseline.rows + ~drawn @ system.rows for drawn in (exchanged, ~exchanged)]
        distances.append(np.abs(baseline.score_sums(mixed[0]) - baseline.score_sums(mixed[1])))
    return share_above(system.score().value - baseline.score().value, np.concatenate(distances))


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


def sign_systems(systems: Iterable[SentenceStatistics], **resampling: int | None) -> str:
    """The signature of systems that are scored alike, with what decides a test."""
    first, *others = systems
    signature = replace(first, normalized=any(counts.normalized for counts in (first, *others))).sign()
    for key, value in resampling.items():
        signature.update(key, value)
    return str(signature)
