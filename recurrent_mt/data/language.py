"""Whether a line is in the language that it should be in, told offline.

CLD2 (pycld2, tens of thousands of lines a second) takes up to 1 % of good French lines for English; langid.py
(py3langid, a tenth as fast) errs on others. A line is in another language where both say so, of the whole line and of
its words in lower case: names are of any language. Only where CLD2 objects is the rest asked. Chinese is told from
others by its script, which beats both on short lines.
"""

from __future__ import annotations

import re
from functools import cache

import pycld2
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ..characters import HAN
from ..languages import base_language, is_chinese

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
    known = {code for _, code in pycld2.LANGUAGES} & set(_identifier().nb_classes)
    if base_language(language) not in known:
        raise ValueError(
            f"language '{language}' cannot be told from others: use --no-language-check; those that can are zh, "
            f"{', '.join(sorted(known))}"
        )


def is_other_language(text: str, language: str) -> bool:
    """Whether a normalized line is surely in another language.

    In doubt it is not: short lines, names and numbers pass.
    """
    if is_chinese(language):
        return _is_other_script(text)
    language = base_language(language)
    if _is_east_asian(text) and language not in _EAST_ASIAN:
        return True
    if not _is_suspect(text, language):
        return False
    words = [word for word in _WORD.findall(text) if not word[0].isupper()]
    if sum(map(len, words)) < _MIN_LETTERS:
        return False
    lower = " ".join(words)
    return _is_suspect(lower, language) and all(
        _identifier().classify(evidence)[0] != language for evidence in (text, lower)
    )


def _is_suspect(text: str, language: str) -> bool:
    """What CLD2 thinks, with a hint that tips the balance toward the language expected."""
    reliable, _, found = pycld2.detect(text, hintLanguage=language)
    _, dominant, percent, _ = found[0]
    return reliable and dominant != "un" and percent >= _DOMINANT and language not in (code for _, code, _, _ in found)


def _is_east_asian(text: str) -> bool:
    """Whether more than half of the letters are of Chinese, Japanese or Korean."""
    if text.isascii():
        return False
    return 2 * len(_EAST_ASIAN_LETTER.findall(text)) > sum(map(str.isalpha, text))


def _is_other_script(text: str) -> bool:
    """Chinese has more than a few Han characters, and at most a name in kana or hangul."""
    han, other = len(_HAN.findall(text)), len(_OTHER_WORD.findall(text))
    return 5 * len(_KANA_OR_HANGUL.findall(text)) > han or 10 * han < 3 * (han + other)
