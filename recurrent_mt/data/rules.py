"""Which sentence pairs are no good to learn from, one small rule each.

A rule sees one normalized pair. What needs the whole corpus (misaligned lines, duplicates) is in
:mod:`.corpus_rules`. A new rule is a class here and a line in :func:`pair_rules`; the report finds it there.
"""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Protocol

from .language import is_other_language, require_known
from .words import count_words


@dataclass(slots=True)
class SentencePair:
    """Two normalized lines.

    Attributes:
        source: text.
        target: text.
        languages: codes of the two.
        words: how many each side has (see :func:`.count_words`).
    """

    source: str
    target: str
    languages: tuple[str, str]
    words: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self.words = (count_words(self.source, self.languages[0]), count_words(self.target, self.languages[1]))

    @property
    def sides(self) -> tuple[str, str]:
        """Both texts."""
        return (self.source, self.target)


class Rule(Protocol):
    """What the report needs: a name and a reason; fields are printed as parameters."""

    name: ClassVar[str]
    reason: ClassVar[str]

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""


@dataclass(frozen=True)
class Encoding:
    """Bytes that were not UTF-8 have already become the replacement character."""

    name: ClassVar[str] = "encoding"
    reason: ClassVar[str] = "bytes that are not UTF-8, or U+FFFD in their place"

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return any("\ufffd" in side for side in pair.sides)


@dataclass(frozen=True)
class Empty:
    """Also what was spaces and invisible characters alone."""

    name: ClassVar[str] = "empty"
    reason: ClassVar[str] = "a side without text"

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return not (pair.source and pair.target)


@dataclass(frozen=True)
class TooLong:
    """Length before segmentation."""

    name: ClassVar[str] = "too long"
    reason: ClassVar[str] = "a side of more words than allowed"
    max_words: int

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return max(pair.words) > self.max_words


@dataclass(frozen=True)
class Identical:
    """Copies teach a model to copy (Khayrallah and Koehn 2018)."""

    name: ClassVar[str] = "identical"
    reason: ClassVar[str] = "both sides are the same but for case"

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return pair.source.casefold() == pair.target.casefold()


@dataclass(frozen=True)
class HeldOut:
    """What will be validated or tested on is not trained on."""

    name: ClassVar[str] = "held out"
    reason: ClassVar[str] = "its source or its target occurs in a held-out set (--exclude), but for case"
    sources: frozenset[str] = field(repr=False)
    targets: frozenset[str] = field(repr=False)

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return pair.source.casefold() in self.sources or pair.target.casefold() in self.targets


@dataclass(frozen=True)
class Ratio:
    """``slack`` words more are forgiven: titles, greetings, answers."""

    name: ClassVar[str] = "length ratio"
    reason: ClassVar[str] = "one side has too many times the words of the other"
    max_ratio: float
    _: KW_ONLY
    slack: int = 4

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return max(pair.words) > self.max_ratio * min(pair.words) + self.slack


@dataclass(frozen=True)
class NonLetters:
    """Tables, numbers, rows of dots."""

    name: ClassVar[str] = "non-letters"
    reason: ClassVar[str] = "a side with too few letters among its characters, spaces aside"
    min_share: float = 0.15

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return any(sum(map(str.isalpha, side)) < self.min_share * (len(side) - side.count(" ")) for side in pair.sides)


@dataclass(frozen=True)
class Markup:
    """What is left of web pages."""

    name: ClassVar[str] = "markup"
    reason: ClassVar[str] = "an HTML tag, or addresses that make up most of a side"
    max_address_share: float = 0.5
    _TAG: ClassVar[re.Pattern[str]] = re.compile(
        r"</?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img"
        r"|input|li|link|meta|ol|option|p|pre|script|select|small|span|strong|style|sub|sup|table|tbody|td|th|title|tr"
        r"|tt|u|ul)(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>",
        re.IGNORECASE,
    )
    _ADDRESS: ClassVar[re.Pattern[str]] = re.compile(
        r"(?:https?://|ftp://|www\.)[!-~]+|[!-~]+@[!-~]+\.[a-z]+", re.IGNORECASE
    )

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return any(map(self._is_markup, pair.sides))

    def _is_markup(self, text: str) -> bool:
        if "<" in text and self._TAG.search(text):
            return True
        if "@" not in text and "://" not in text and "www." not in text.lower():
            return False
        return sum(map(len, self._ADDRESS.findall(text))) > self.max_address_share * len(text)


@dataclass(frozen=True)
class WrongLanguage:
    """See :mod:`.language`."""

    name: ClassVar[str] = "wrong language"
    reason: ClassVar[str] = "a side is surely in another language; in doubt it stays"
    source: str
    target: str

    def __post_init__(self) -> None:
        require_known(self.source)
        require_known(self.target)

    def drops(self, pair: SentencePair) -> bool:
        """Whether the pair goes."""
        return is_other_language(pair.source, self.source) or is_other_language(pair.target, self.target)


def pair_rules(
    languages: tuple[str, str],
    held_out: tuple[frozenset[str], frozenset[str]],
    *,
    max_words: int,
    max_ratio: float,
    language_check: bool,
) -> tuple[Rule, ...]:
    """The rules, in the order in which they are tried: a pair goes by the first that drops it.

    Args:
        languages: codes of source and target.
        held_out: casefolded lines of each side that must not occur.
        max_words: a parameter of :class:`TooLong`.
        max_ratio: a parameter of :class:`Ratio`.
        language_check: with :class:`WrongLanguage`, the slowest.

    Raises:
        ValueError: a language that cannot be told.
    """
    return (
        Encoding(),
        Empty(),
        TooLong(max_words),
        Identical(),
        HeldOut(*held_out),
        Ratio(max_ratio),
        NonLetters(),
        Markup(),
        *((WrongLanguage(*languages),) if language_check else ()),
    )
