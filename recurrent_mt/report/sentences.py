"""The sentences of a report, for the page's browser."""

from __future__ import annotations

from typing import Any

from ..evaluation.analysis import Analysis
from ..evaluation.test_set import System, UnknownWords


def collect_data(analysis: Analysis, listed_sentences: int) -> dict[str, Any]:
    """What the page's script works on: numbers unrounded, but for those of n-best lists, which are the most.

    Args:
        analysis: what to show.
        listed_sentences: so many, from the first one on, get their n-best lists.
    """
    test_set = analysis.test_set
    return {
        "systems": analysis.names,
        "lowercase": test_set.lowercase,
        "sentences": {
            "source": list(test_set.source),
            "reference": list(test_set.reference),
            "sourceLengths": list(map(len, test_set.source_words)),
            "referenceLengths": list(map(len, test_set.reference_words)),
            "unknown": count_unknown_words(analysis),
            "translations": [list(system.first_seed) for system in analysis.systems],
            "scores": [list(analysis.sentence_scores[name]) for name in analysis.names],
            "nbest": [list_hypotheses(analysis, system, listed_sentences) for system in analysis.systems],
        },
    }


def count_unknown_words(analysis: Analysis) -> list[dict[str, Any]]:
    """Counts of unknown words, once for all systems that share their dictionaries."""
    found: list[tuple[UnknownWords, list[int]]] = []
    for index, system in enumerate(analysis.systems):
        if system.unknown:
            members = next((members for unknown, members in found if unknown == system.unknown), None)
            if members is None:
                found.append((system.unknown, members := []))
            members.append(index)
    return [
        {"systems": members, "source": list(unknown.source), "reference": list(unknown.reference)}
        for unknown, members in found
    ]


def list_hypotheses(analysis: Analysis, system: System, count: int) -> list[list[tuple[float, float, str]]]:
    """The n-best lists of the first sentences: score, chrF and text of each hypothesis; empty if there are none."""
    if not system.nbest:
        return []
    scores = analysis.hypothesis_scores[system.name]
    return [
        [(round(one.score, 4), round(value, 2), one.text) for one, value in zip(hypotheses, row, strict=True)]
        for hypotheses, row in zip(system.nbest[:count], scores)
    ]
