"""How good n-best lists are: what could be reached by choosing from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..metrics import score, statistics
from .nbest_lists import NBestLists
from .test_set import TestSet

#: How many hypotheses of a list may be chosen from, as far as lists are that long.
DEPTHS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class NBestScores:
    """The lists of one system.

    Attributes:
        hypotheses: of a sentence, on average.
        best_of: by depth n: the corpus' score if of each sentence's first n hypotheses the one of the highest sentence
            score is taken; the earlier one where two have the same. At 1 it is the score of the translations.
        first_is_best: share of the sentences whose first hypothesis no other one exceeds in sentence score.
        sentence_scores: of each hypothesis.
    """

    hypotheses: float
    best_of: Mapping[int, float]
    first_is_best: float
    sentence_scores: Sequence[Sequence[float]]


def nbest_scores(
    lists: NBestLists, test_set: TestSet, *, metric: str, sentence_metric: str, tokenize: str | None = None
) -> NBestScores:
    """Scores every hypothesis by itself, and the corpora that can be made by choosing.

    Args:
        lists: as many as the test set has sentences.
        test_set: with the references.
        metric: of the corpora.
        sentence_metric: what hypotheses are chosen by; higher is better.
        tokenize: as of `metrics.score`.

    Raises:
        ValueError: if the lists are not as many as the references.
    """
    if len(lists) != len(test_set):
        raise ValueError(f"{len(lists)} n-best lists for {len(test_set)} references: one each is needed")
    flat = score_hypotheses(lists, test_set, sentence_metric)
    numbers = iter(flat)
    scores = [[next(numbers) for _ in hypotheses] for hypotheses in lists]
    longest = max(map(len, lists))
    best_of = {}
    for depth in sorted({*(depth for depth in DEPTHS if depth < longest), longest}):
        chosen = [hypotheses[best_place(row[:depth])].text for hypotheses, row in zip(lists, scores, strict=True)]
        best_of[depth] = score(
            metric,
            chosen,
            test_set.reference,
            target_language=test_set.target_language,
            tokenize=tokenize,
            lowercase=test_set.lowercase,
        ).value
    first = sum(best_place(row) == 0 for row in scores)
    return NBestScores(len(flat) / len(lists), best_of, first / len(lists), scores)


def score_hypotheses(lists: NBestLists, test_set: TestSet, metric: str) -> list[float]:
    """The sentence score of each hypothesis, list after list."""
    counts = statistics(
        metric,
        [hypothesis.text for hypotheses in lists for hypothesis in hypotheses],
        [reference for hypotheses, reference in zip(lists, test_set.reference) for _ in hypotheses],
        target_language=test_set.target_language,
        lowercase=test_set.lowercase,
    )
    return [float(counts.score_of_sum(row).score) for row in counts.rows]


def best_place(scores: Sequence[float]) -> int:
    """Where the highest score stands, the first one where there are several."""
    return max(range(len(scores)), key=scores.__getitem__)
