"""Which sentence pairs are no good to learn from: by a test of each pair, by its language, and beside all others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
import pycld2
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ..characters import HAN, join_chinese
from ..languages import base_language, is_chinese, read_language
from .words import count_words, has_words

# CLD2 finds several languages in a line, with percentages of its text.
_DOMINANT = 80
# Fewer letters in words of lower case are no evidence.
_MIN_LETTERS = 25
_EAST_ASIAN = frozenset({"ja", "ko", "zh"})

_WORD = re.compile(r"\b[^\W\d_]+\b")
_HAN = re.compile(f"[{HAN}]")
_KANA_AND_HANGUL = "\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af"
_EAST_ASIAN_LETTER = re.compile(f"[{HAN}{_KANA_AND_HANGUL}]")
_KANA_OR_HANGUL = re.compile(f"[{_KANA_AND_HANGUL}]")
_OTHER_WORD = re.compile(rf"[^\W\d_{HAN}{_KANA_AND_HANGUL}]+")


_CLD2 = frozenset(code for _, code in pycld2.LANGUAGES)
#: What CLD2 and langid call languages whose codes here are others.
_OTHER_CODES = {"fil": {"tl"}, "he": {"iw"}, "jv": {"jw"}, "nb": {"no"}}
#: Languages that CLD2 tells in another script than their usual one, too. In any further script it would take a language
#: for one that is usually written so: Punjabi in Arabic script for Urdu.
_OTHER_SCRIPTS = {"kk": "Arab", "ko": "Hang", "mn": "Mong", "ro": "Cyrl", "sr": "Latn"}


def _codes(language: str) -> set[str]:
    """What a language may be called by what tells it."""
    base = base_language(language)
    return {base} | _OTHER_CODES.get(base, set())


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_pickled_model(MODEL_FILE)


def require_known(language: str) -> None:
    """Loads what tells the language.

    Raises:
        ValueError: it is none of those that can be told.
    """
    if is_chinese(language):
        return
    langid = set(_identifier().nb_classes)
    base, script = read_language(language)
    is_usual = script in (read_language(base).script, _OTHER_SCRIPTS.get(base))
    if not (is_usual and _codes(language) & _CLD2 and _codes(language) & langid):
        known = _CLD2 & langid | _OTHER_CODES.keys()
        raise ValueError(
            f"language '{language}' cannot be told from others: use --no-language-check, or in an experiment "
            "cleaning=false; those that can, in their usual scripts, are zh, "
            f"{', '.join(sorted(known))}"
        )


def is_other_language(text: str, language: str) -> bool:
    """Whether a normalized line is surely in another language.

    In doubt it is not: short lines, names and numbers pass.
    """
    if is_chinese(language):
        return _is_not_chinese(text)
    codes = _codes(language)
    if _is_east_asian(text) and not codes & _EAST_ASIAN:
        return True
    if not _is_suspect(text, codes):
        return False
    words = [word for word in _WORD.findall(text) if not word[0].isupper()]
    if sum(map(len, words)) < _MIN_LETTERS:
        return False
    lower = " ".join(words)
    return _is_suspect(lower, codes) and all(
        _identifier().classify(evidence)[0] not in codes for evidence in (text, lower)
    )


def _is_suspect(text: str, codes: set[str]) -> bool:
    """What CLD2 thinks, with a hint that tips the balance toward the language expected."""
    reliable, _, found = pycld2.detect(text, hintLanguage=max(sorted(codes), key=lambda code: code in _CLD2))
    _, dominant, percent, _ = found[0]
    return reliable and dominant != "un" and percent >= _DOMINANT and codes.isdisjoint(code for _, code, _, _ in found)


def _is_east_asian(text: str) -> bool:
    """Whether more than half of the letters are of Chinese, Japanese or Korean."""
    if text.isascii():
        return False
    return 2 * len(_EAST_ASIAN_LETTER.findall(text)) > sum(map(str.isalpha, text))


def _is_not_chinese(text: str) -> bool:
    """Chinese has more than a few Han characters, and at most a name in kana or hangul."""
    han, other = len(_HAN.findall(text)), len(_OTHER_WORD.findall(text))
    return 5 * len(_KANA_OR_HANGUL.findall(text)) > han or 10 * han < 3 * (han + other)


_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|iframe|img"
    r"|input|li|link|meta|ol|option|p|pre|script|select|small|span|strong|style|sub|sup|table|tbody|td|th|title|tr"
    r"|tt|u|ul)(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>",
    re.IGNORECASE,
)
# The second begins at a word's beginning and goes to its first @ alone: of long words, its time is linear.
_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[!-~]+|(?<![!-~])[!-~][!-?A-~]*@[!-~]+\.[a-z]+", re.IGNORECASE)


@dataclass(frozen=True)
class Rule:
    """A reason for which sentence pairs are dropped."""

    name: str
    reason: str  # both are in the report
    test: Callable[..., Any]  # of one pair, or of the records of a corpus (`find_duplicates`, `find_misaligned`)
    parameters: dict[str, Any] = field(default_factory=dict)  # of the test, by name; the report shows them

    def __call__(self, *subject: Any) -> Any:
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
        return (self.source, self.target)


def fold(text: str, language: str) -> str:
    """What lines have in common that differ in case alone, or in spaces between Chinese characters, which mean nothing.

    Some corpora are published with their words apart, and test sets are not.
    """
    return (join_chinese(text) if is_chinese(language) else text).casefold()


def pair_rules(
    languages: tuple[str, str],
    held_out: tuple[frozenset[str], frozenset[str]],
    *,
    max_words: int,
    max_ratio: float,
    language_check: bool,
) -> tuple[Rule, ...]:
    """The rules, in the order in which they are tried: a pair goes by the first whose test is true.

    ``held_out`` are lines of each side as :func:`fold` has them; the rest is as of :class:`.Cleaning`. Where words of
    a language cannot be counted, as in Japanese, there is no rule of their ratio.

    Raises:
        ValueError: a language that cannot be told.
    """
    held_out_sides = dict(zip(("sources", "targets"), held_out, strict=True))
    too_long = "a side of more words than allowed"
    if uncounted := [language for language in languages if not has_words(language)]:
        too_long += f" (not of {' and '.join(uncounted)}, whose words cannot be counted)"
    rules = [
        Rule("encoding", "bytes that are not UTF-8, or U+FFFD in their place", _has_replacement_character),
        Rule("empty", "a side without text", lambda pair: not all(pair.sides)),
        Rule("too long", too_long, _is_too_long, {"max_words": max_words}),
        Rule("identical", "both sides are the same but for case", _is_copy),
        Rule(
            "held out",
            "its source or its target occurs in a held-out set (--exclude), but for case and spaces in Chinese",
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
    if uncounted:
        rules = [rule for rule in rules if rule.test is not _is_unequal]
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
    source, target = map(fold, pair.sides, pair.languages)
    return source in sources or target in targets


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
    """Tells whether a side is in another language, see `is_other_language`."""
    return is_other_language(pair.source, source) or is_other_language(pair.target, target)


#: What is known of a pair: a hash of both sides, and how many bytes they have.
RECORD = np.dtype([("hash", "<u8"), ("source", "<u4"), ("target", "<u4")])

# Pairs that tell the lengths of a corpus.
_SAMPLE = 1 << 18

# The median of the absolute deviations of a normal distribution, in standard deviations.
_MAD_OF_NORMAL = 0.6745


def pair_record(source: str, target: str, languages: tuple[str, str] = ("", "")) -> tuple[int, int, int]:
    """The values of a :data:`RECORD`: pairs that :func:`fold` makes the same have the same hash."""
    text = "\n".join(map(fold, (source, target), languages)).encode()
    digest = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return digest, len(source.encode()), len(target.encode())


def find_misaligned(records: np.ndarray, max_deviations: float, min_pairs: int) -> np.ndarray:
    """Gale and Church (1993), with a mean and a deviation from medians, which misaligned pairs hardly move.

    A unit of source length gives rise to ``ratio`` of the target (their c), with a variance (their s squared). Lengths
    are in bytes of UTF-8: a Han character has three and is worth about three letters, so that Latin names in a Chinese
    line do not make it look long. Translations are freer than a normal distribution has it: six deviations, not three.
    Fewer than ``min_pairs`` pairs tell no deviation to trust, and all pass.
    """
    if len(records) < min_pairs:
        return np.zeros(len(records), bool)
    source, target = (records[side].astype(float) for side in ("source", "target"))
    # Those at equal distances tell the lengths of all.
    step = -(-len(records) // _SAMPLE)
    ratio = float(np.median(target[::step] / source[::step]))
    # Over the root of the length, the mean of both sides' (symmetric).
    distances = np.abs((target - ratio * source) / np.sqrt((source + target / ratio) / 2))
    deviation = float(np.median(distances[::step])) / _MAD_OF_NORMAL
    # Where most pairs have the very same ratio, one more or less in a hundred is still no error.
    variance = max(deviation**2, 0.01)
    return distances / variance**0.5 > max_deviations


def find_duplicates(records: np.ndarray) -> np.ndarray:
    """The first of several stays.

    Two different pairs of a hundred million have the same 64 bits with a probability of 0.0003.
    """
    _, first = np.unique(records["hash"], return_index=True)
    repeated = np.ones(len(records), bool)
    repeated[first] = False
    return repeated


#: In order; each tells which records it drops.
CORPUS_RULES = (
    Rule(
        "misaligned",
        "lengths in bytes that are not those of a translation in this corpus",
        find_misaligned,
        {"max_deviations": 6.0, "min_pairs": 1000},
    ),
    Rule("duplicate", "the same pair, but for case and spaces in Chinese, comes earlier", find_duplicates),
)
