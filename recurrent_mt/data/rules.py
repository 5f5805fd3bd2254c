"""Which sentence pairs are no good to learn from, one small test each.

A test sees one normalized pair. What needs the whole corpus (misaligned lines, duplicates) is in
:mod:`.corpus_rules`. A new rule is a function here and a line in :func:`pair_rules`; the report finds it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .language import is_other_language, require_known
from .words import count_words

_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img"
    r"|input|li|link|meta|ol|option|p|pre|script|select|small|span|strong|style|sub|sup|table|tbody|td|th|title|tr"
    r"|tt|u|ul)(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[!-~]+|[!-~]+@[!-~]+\.[a-z]+", re.IGNORECASE)


@dataclass(frozen=True)
class Rule:
    """A reason for which sentence pairs are dropped."""

    name: str
    reason: str  # both are in the report
    test: Callable[..., Any]  # of one pair, or of a whole corpus (see :mod:`.corpus_rules`)
    parameters: dict[str, Any] = field(default_factory=dict)  # of the test, by name; the report shows them

    def __call__(self, *subject: Any) -> Any:
        """Tells whether the rule drops a pair."""
        return self.test(*subject, **self.parameters)


@dataclass(slots=True)
class SentencePair:
    """A source and a target sentence, both normalized."""

    source: str
    target: str
    languages: tuple[str, str]  # codes of the two
    words: tuple[float, float] = field(init=False)  # how many each side has (see :func:`.count_words`)

    def __post_init__(self) -> None:
        self.words = (count_words(self.source, self.languages[0]), count_words(self.target, self.languages[1]))

    @property
    def sides(self) -> tuple[str, str]:
        """The source and the target text."""
        return (self.source, self.target)


def pair_rules(
    languages: tuple[str, str],
    held_out: tuple[frozenset[str], frozenset[str]],
    *,
    max_words: int,
    max_ratio: float,
    language_check: bool,
) -> tuple[Rule, ...]:
    """The rules, in the order in which they are tried: a pair goes by the first whose test is true.

    ``held_out`` are casefolded lines of each side; the rest is as of :class:`.Cleaning`.

    Raises:
        ValueError: a language that cannot be told.
    """
    held_out_sides = dict(zip(("sources", "targets"), held_out, strict=True))
    rules = [
        Rule("encoding", "bytes that are not UTF-8, or U+FFFD in their place", _has_replacement_character),
        Rule("empty", "a side without text", lambda pair: not all(pair.sides)),
        Rule("too long", "a side of more words than allowed", _is_too_long, {"max_words": max_words}),
        Rule("identical", "both sides are the same but for case", _is_copy),
        Rule(
            "held out",
            "its source or its target occurs in a held-out set (--exclude), but for case",
            _is_held_out,
            held_out_sides,
        ),
        Rule(
            "length ratio",
            "one side has too many times the words of the other",
            _is_unequal,
            {"max_ratio": max_ratio, "slack": 4},
        ),
        Rule(
            "non-letters",
            "a side with too few letters among its characters, spaces aside",
            _lacks_letters,
            {"min_share": 0.15},
        ),
        Rule("markup", "an HTML tag, or addresses that make up most of a side", _is_markup, {"max_address_share": 0.5}),
    ]
    if language_check:
        for language in languages:
            require_known(language)
        reason = "a side is surely in another language; in doubt it stays"
        rules.append(Rule("wrong language", reason, _is_foreign, dict(zip(("source", "target"), languages))))
    return tuple(rules)


def _has_replacement_character(pair: SentencePair) -> bool:
    """Bytes that were not UTF-8 have already become one."""
    return any("\ufffd" in side for side in pair.sides)


def _is_too_long(pair: SentencePair, max_words: int) -> bool:
    return max(pair.words) > max_words


def _is_copy(pair: SentencePair) -> bool:
    """Copies teach a model to copy (Khayrallah and Koehn 2018)."""
    return pair.source.casefold() == pair.target.casefold()


def _is_held_out(pair: SentencePair, sources: frozenset[str], targets: frozenset[str]) -> bool:
    """What will be validated or tested on is not trained on."""
    return pair.source.casefold() in sources or pair.target.casefold() in targets


def _is_unequal(pair: SentencePair, max_ratio: float, slack: int) -> bool:
    """``slack`` words more are forgiven: titles, greetings, answers."""
    return max(pair.words) > max_ratio * min(pair.words) + slack


def _lacks_letters(pair: SentencePair, min_share: float) -> bool:
    """Tells whether a side has few letters, like tables, numbers, and rows of dots."""
    return any(sum(map(str.isalpha, side)) < min_share * (len(side) - side.count(" ")) for side in pair.sides)


def _is_markup(pair: SentencePair, max_address_share: float) -> bool:
    """Tells whether a side has markup left over from a web page."""
    for text in pair.sides:
        if "<" in text and _TAG.search(text):
            return True
        # To ask for these first is faster than to search every line.
        addressed = "@" in text or "://" in text or "www." in text.lower()
        if addressed and sum(map(len, _ADDRESS.findall(text))) > max_address_share * len(text):
            return True
    return False


def _is_foreign(pair: SentencePair, source: str, target: str) -> bool:
    """Tells whether a side is in another language, as :mod:`.language` identifies it."""
    return is_other_language(pair.source, source) or is_other_language(pair.target, target)
