"""The sentences where systems differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bucket_scores import ScoredSystem


@dataclass(frozen=True)
class Difference:
    """One sentence, from 0, and what each of two systems scores on it."""

    sentence: int
    score: float
    baseline_score: float

    @property
    def difference(self) -> float:
        """How much better the system is than the baseline."""
        return self.score - self.baseline_score


def sentence_scores(scored: ScoredSystem) -> list[float]:
    """The score of each sentence by itself, of the first seed.

    chrF is made for that; BLEU of a single sentence is mostly zero or chance.
    """
    rows = next(iter(scored.statistics.values()))
    return [float(rows.score_of_sum(row).score) for row in rows.rows]


def greatest_differences(
    scores: Sequence[float], baseline_scores: Sequence[float], count: int
) -> tuple[list[Difference], list[Difference]]:
    """The sentences on which a system is most above and most below a baseline, the greatest first.

    Sentences on which both are equal are in neither list, however few others there are.
    """
    differences = [Difference(number, *pair) for number, pair in enumerate(zip(scores, baseline_scores, strict=True))]
    above = sorted((one for one in differences if one.difference > 0), key=lambda one: -one.difference)
    below = sorted((one for one in differences if one.difference < 0), key=lambda one: one.difference)
    return above[:count], below[:count]
