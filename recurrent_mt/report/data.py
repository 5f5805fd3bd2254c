"""What the page's script works on, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..evaluation.study import Study, first
from ..evaluation.test_set import System
from ..evaluation.unknown_words import UnknownWords
from .charts import Chart, length_charts, unknown_charts, word_chart


def page_data(study: Study, listed_sentences: int) -> dict[str, Any]:
    """Systems, charts and sentences; numbers unrounded, but for those of n-best lists, which are the most.

    Args:
        study: what to show.
        listed_sentences: so many, from the first one on, get their n-best lists.
    """
    test_set = study.test_set
    systems = [system.name for system in study.systems]
    return {
        "systems": systems,
        "lowercase": test_set.lowercase,
        "charts": [chart.data(systems) for chart in charts(study)],
        "sentences": {
            "source": list(test_set.source),
            "reference": list(test_set.reference),
            "sourceLengths": list(map(len, test_set.source_words)),
            "referenceLengths": list(map(len, test_set.reference_words)),
            "unknown": unknown_words(study),
            "translations": [list(first(system)) for system in study.systems],
            "scores": [list(study.sentence_scores[name]) for name in systems],
            "nbest": [listed(study, system, listed_sentences) for system in study.systems],
        },
    }


def charts(study: Study) -> Iterator[Chart]:
    """All charts, in the order of the page."""
    for metric in study.metrics:
        yield from (chart for chart, _ in length_charts(metric))
    for metric in study.metrics:
        yield from unknown_charts(metric)
    if study.words:
        yield word_chart(study.words)


def unknown_words(study: Study) -> list[dict[str, Any]]:
    """Counts of unknown words, once for all systems that share their dictionaries."""
    found: list[tuple[UnknownWords, list[int]]] = []
    for index, system in enumerate(study.systems):
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


def listed(study: Study, system: System, count: int) -> list[list[tuple[float, float, str]]]:
    """The n-best lists of the first sentences: score, chrF and text of each hypothesis; empty if there are none."""
    if not system.nbest:
        return []
    scores = study.nbest[system.name].sentence_scores
    return [
        [(round(one.score, 4), round(value, 2), one.text) for one, value in zip(hypotheses, row, strict=True)]
        for hypotheses, row in zip(system.nbest[:count], scores)
    ]


def script_json(data: object) -> str:
    """JSON that may stand in a script element: no ``<`` in it, so nothing can end the element or open a comment."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
