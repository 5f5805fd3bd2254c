"""The sentences of a report: those that differ most, and all of them for the browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..evaluation.analysis import Analysis, SentenceDifference
from ..evaluation.test_set import System, UnknownWords

#: Sentences of each kind; the sentence browser can sort all of them by the same difference.
COUNT = 3
#: What could end a script element or, in JavaScript's older eyes, a line.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Card:
    """A sentence as two systems translate it.

    Attributes:
        number: of the sentence, from 0.
        difference: of their chrF, with its sign.
        source: empty if only references are at hand.
        reference: of the test set.
        translations: number of the system, its translation, its chrF.
    """

    number: int
    difference: str
    source: str
    reference: str
    translations: Sequence[tuple[int, str, float]]


def find_differences(analysis: Analysis) -> list[tuple[int, list[Card], list[Card]]]:
    """For each system but the baseline: its number, the sentences it does better, and those it does worse."""
    found = []
    for index, system in enumerate(analysis.systems[1:], start=1):
        better, worse = (
            [make_card(analysis, index, one) for one in side] for side in analysis.find_differences(system.name, COUNT)
        )
        found.append((index, better, worse))
    return found


def make_card(analysis: Analysis, index: int, difference: SentenceDifference) -> Card:
    """One sentence of a system beside the baseline's."""
    number, test_set = difference.sentence, analysis.test_set
    scores = {index: difference.score, 0: difference.baseline_score}
    return Card(
        number,
        # A hyphen is narrower than a plus sign.
        f"{difference.difference:+.1f}".replace("-", "−"),
        test_set.source[number] if test_set.source else "",
        test_set.reference[number],
        [(place, analysis.systems[place].first_seed[number], score) for place, score in scores.items()],
    )


def collect_data(analysis: Analysis, listed_sentences: int) -> dict[str, Any]:
    """What the page's script works on: numbers unrounded, but for those of n-best lists, which are the most.

    Args:
        analysis: what to show.
        listed_sentences: so many, from the first one on, get their n-best lists.
    """
    test_set = analysis.test_set
    systems = [system.name for system in analysis.systems]
    return {
        "systems": systems,
        "lowercase": test_set.lowercase,
        "sentences": {
            "source": list(test_set.source),
            "reference": list(test_set.reference),
            "sourceLengths": list(map(len, test_set.source_words)),
            "referenceLengths": list(map(len, test_set.reference_words)),
            "unknown": count_unknown_words(analysis),
            "translations": [list(system.first_seed) for system in analysis.systems],
            "scores": [list(analysis.sentence_scores[name]) for name in systems],
            "nbest": [list_hypotheses(analysis, system, listed_sentences) for system in analysis.systems],
        },
    }


def count_unknown_words(analysis: Analysis) -> list[dict[str, Any]]:
    """Counts of unknown words, once for all systems that share their dictionaries."""
    found: list[tuple[UnknownWords, list[int]]] = []
    for index, system in enumerate(analysis.systems):
        if system.unknown is None:
            continue
        sharing = next((members for unknown, members in found if unknown == system.unknown), None)
        if sharing is None:
            found.append((system.unknown, [index]))
        else:
            sharing.append(index)
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


def write_json(data: object) -> Markup:
    """JSON for a script element: nothing in it can end the element, open a comment or break a line."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(ESCAPES))
