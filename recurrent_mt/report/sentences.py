"""The sentences of a report: those that differ most, and all of them for the browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..evaluation.differences import Difference
from ..evaluation.study import Study, first
from ..evaluation.test_set import System
from ..evaluation.unknown_words import UnknownWords

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


def find_differences(study: Study) -> list[tuple[int, list[Card], list[Card]]]:
    """For each system but the baseline: its number, the sentences it does better, and those it does worse."""
    found = []
    for index, system in enumerate(study.systems[1:], start=1):
        better, worse = (
            [make_card(study, index, one) for one in side] for side in study.differences(system.name, COUNT)
        )
        found.append((index, better, worse))
    return found


def make_card(study: Study, index: int, difference: Difference) -> Card:
    """One sentence of a system beside the baseline's."""
    number, test_set = difference.sentence, study.test_set
    scores = {index: difference.score, 0: difference.baseline_score}
    return Card(
        number,
        # A hyphen is narrower than a plus sign.
        f"{difference.difference:+.1f}".replace("-", "−"),
        test_set.source[number] if test_set.source else "",
        test_set.reference[number],
        [(place, first(study.systems[place])[number], score) for place, score in scores.items()],
    )


def collect_data(study: Study, listed_sentences: int) -> dict[str, Any]:
    """What the page's script works on: numbers unrounded, but for those of n-best lists, which are the most.

    Args:
        study: what to show.
        listed_sentences: so many, from the first one on, get their n-best lists.
    """
    test_set = study.test_set
    systems = [system.name for system in study.systems]
    return {
        "systems": systems,
        "lowercase": test_set.lowercase,
        "sentences": {
            "source": list(test_set.source),
            "reference": list(test_set.reference),
            "sourceLengths": list(map(len, test_set.source_words)),
            "referenceLengths": list(map(len, test_set.reference_words)),
            "unknown": count_unknown_words(study),
            "translations": [list(first(system)) for system in study.systems],
            "scores": [list(study.sentence_scores[name]) for name in systems],
            "nbest": [list_hypotheses(study, system, listed_sentences) for system in study.systems],
        },
    }


def count_unknown_words(study: Study) -> list[dict[str, Any]]:
    """Counts of unknown words, once for all systems that share their dictionaries."""
    found: list[tuple[UnknownWords, list[int]]] = []
    for index, system in enumerate(study.systems):
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


def list_hypotheses(study: Study, system: System, count: int) -> list[list[tuple[float, float, str]]]:
    """The n-best lists of the first sentences: score, chrF and text of each hypothesis; empty if there are none."""
    if not system.nbest:
        return []
    scores = study.nbest[system.name].sentence_scores
    return [
        [(round(one.score, 4), round(value, 2), one.text) for one, value in zip(hypotheses, row, strict=True)]
        for hypotheses, row in zip(system.nbest[:count], scores)
    ]


def write_json(data: object) -> Markup:
    """JSON for a script element: nothing in it can end the element, open a comment or break a line."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(ESCAPES))
