"""The sentences on which each system is furthest above and below the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ..evaluation.analysis import Analysis, SentenceDifference
from .markup import data_text, element
from .table import system_name

#: Of each kind; the sentence browser can sort by the same difference.
COUNT = 3


def difference_cards(analysis: Analysis) -> list[Element]:
    """A fold for each system but the baseline, the first one open."""
    introduction = element(
        "p",
        None,
        f"By chrF of the sentence, against {analysis.baseline}. Highlighted: words that the reference has not, or has "
        "elsewhere. All sentences can be sorted by the same difference below.",
    )
    folds = []
    for index, system in enumerate(analysis.systems[1:]):
        above, below = analysis.find_differences(system.name, COUNT)
        folds.append(
            element(
                "details",
                {"class": "fold", **({"open": ""} if index == 0 else {})},
                element("summary", None, system_name(system.name, [one.name for one in analysis.systems])),
                element("div", {"class": "pair"}, *sides(analysis, index + 1, above, below)),
            )
        )
    return [introduction, *folds]


def sides(
    analysis: Analysis, index: int, above: Sequence[SentenceDifference], below: Sequence[SentenceDifference]
) -> list[Element]:
    """Above on one side, below on the other."""
    columns = []
    for title, differences in ((f"Better than {analysis.baseline}", above), (f"Worse than {analysis.baseline}", below)):
        cards = [card(analysis, index, difference) for difference in differences]
        nothing = element("p", {"class": "note"}, "On no sentence.")
        columns.append(element("div", None, data_text(title, "h3"), *(cards or [nothing])))
    return columns


def card(analysis: Analysis, index: int, difference: SentenceDifference) -> Element:
    """One sentence: source, reference, and both translations."""
    number, test_set = difference.sentence, analysis.test_set
    names = [system.name for system in analysis.systems]
    lines: list[tuple[Element, Element]] = []
    if test_set.source:
        lines.append(line(element("span", None, "source"), test_set.source[number]))
    lines.append(line(element("span", None, "reference"), test_set.reference[number]))
    for place, value in ((index, difference.score), (0, difference.baseline_score)):
        translation = analysis.systems[place].first_seed[number]
        mark = {"data-sentence": str(number), "data-translation": str(place)}
        lines.append(line(system_name(names[place], names), translation, mark, f"{value:.1f}"))
    head = element("p", {"class": "card-head"}, f"Sentence {number + 1:,}: chrF {signed(difference.difference)}")
    parts = [part for pair in lines for part in pair]
    return element("article", {"class": "sentence"}, head, element("dl", None, *parts))


def signed(number: float) -> str:
    """With a sign of its own width: a hyphen is no minus."""
    return f"{number:+.1f}".replace("-", "−")


def line(label: Element, text: str, marks: dict[str, str] | None = None, score: str = "") -> tuple[Element, Element]:
    """A term and its text; the script highlights words of a text that is marked."""
    term = element("dt", None, label, *([element("span", {"class": "score"}, score)] if score else []))
    shown = data_text(text, "dd", {"class": "text", **(marks or {})})
    if not text.strip():
        shown = element("dd", {"class": "text empty"}, "(empty)")
    return term, shown
