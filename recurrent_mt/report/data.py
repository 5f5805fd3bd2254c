"""What the page's script works on, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..evaluation.analysis import Analysis
from ..evaluation.test_set import System, UnknownWords
from .charts import Chart, length_charts, unknown_charts, word_chart


def page_data(analysis: Analysis, listed_sentences: int) -> dict[str, Any]:
    """Systems, charts and sentences; numbers unrounded, but for those of n-best lists, which are the most.

    Args:
        analysis: what to show.
        listed_sentences: so many, from the first one on, get their n-best lists.
    """
    test_set = analysis.test_set
    systems = [system.name for system in analysis.systems]
    return {
        "systems": systems,
        "lowercase": test_set.lowercase,
        "charts": [chart.data(systems) for chart in charts(analysis)],
        "sentences": {
            "source": list(test_set.source),
            "reference": list(test_set.reference),
            "sourceLengths": list(map(len, test_set.source_words)),
            "referenceLengths": list(map(len, test_set.reference_words)),
            "unknown": unknown_words(analysis),
            "translations": [list(system.first_seed) for system in analysis.systems],
            "scores": [list(analysis.sentence_scores[name]) for name in systems],
            "nbest": [listed(analysis, system, listed_sentences) for system in analysis.systems],
        },
    }


def charts(analysis: Analysis) -> Iterator[Chart]:
    """All charts, in the order of the page."""
    for metric in analysis.signatures:
        yield from length_charts(analysis, metric)
    for metric in analysis.signatures:
        yield from unknown_charts(analysis, metric)
    if analysis.knows_frequencies:
        yield word_chart(analysis)


def unknown_words(analysis: Analysis) -> list[dict[str, Any]]:
    """Counts of unknown words, once for all systems that share their dictionaries."""
    found: list[tuple[UnknownWords, list[int]]] = []
    for index, system in enumerate(analysis.systems):
        if system.unknown is None:
            continue
        sharing: Sequence[list[int]] = [members for unknown, members in found if unknown == system.unknown]
        if sharing:
            sharing[0].append(index)
        else:
            found.append((system.unknown, [index]))
    return [
        {"systems": members, "source": list(unknown.source), "reference": list(unknown.reference)}
        for unknown, members in found
    ]


def listed(analysis: Analysis, system: System, count: int) -> list[list[tuple[float, float, str]]]:
    """The n-best lists of the first sentences: score, chrF and text of each hypothesis; empty if there are none."""
    if not system.nbest:
        return []
    scores = analysis.hypothesis_scores[system.name]
    return [
        [(round(one.score, 4), round(value, 2), one.text) for one, value in zip(hypotheses, row, strict=True)]
        for hypotheses, row in zip(system.nbest[:count], scores)
    ]


def script_json(data: object) -> str:
    """JSON that may stand in a script element: no ``<`` in it, so nothing can end the element or open a comment."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
