"""What the code of a language says.

Codes come as people have them: ISO 639-1 (``fr``), 639-2 and 639-3 (``fra``, ``zho``, ``cmn``), with a country
(``fr_CA``, ``zh-TW``), with a script (``zho_Hans``, as in FLORES), in capitals. The library langcodes reads them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

#: Scripts (ISO 15924) that put no spaces between words.
_WITHOUT_SPACES = frozenset({"Hans", "Hant", "Hani", "Jpan", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
#: Languages with two letters i, one with and one without a dot: Azerbaijani, Crimean Tatar, Gagauz, and Turkish; and
#: Kazakh and Tatar, in Latin script alone.
_TWO_LETTERS_I = ("az", "crh", "gag", "tr")
_TWO_LETTERS_I_IN_LATIN = ("kk", "tt")


class Language(NamedTuple):
    """What there is to know of a language here; both fields are empty where no language was named."""

    base: str  # the shortest ISO 639 code, without script and country: ``fr``, ``zh``, and ``haw``
    script: str  # ISO 15924; the usual one where the code names none


@cache
def read_language(code: str) -> Language:
    """Reads a code; the empty one is no language.

    Raises:
        ValueError: if no language has this code.
    """
    if not code:
        return Language("", "")
    # Imported here: fairseq's commands import this module, and few of them need to know a language.
    from langcodes import Language as Tag
    from langcodes import standardize_tag
    from langcodes.tag_parser import LanguageTagError

    try:
        # macro: Mandarin (cmn) is Chinese (zh), Standard Arabic (arb) is Arabic (ar).
        tag = Tag.get(standardize_tag(code.replace("_", "-"), macro=True))
    except LanguageTagError:
        tag = Tag.get("und")
    # Private codes (x-…) are valid, but say nothing.
    if not tag.is_valid() or not re.fullmatch("[a-z]{2,3}", tag.language or ""):
        raise ValueError(
            f"unknown language code '{code}': use one of ISO 639 with two or three letters, alone or with a country or "
            "a script, as in de, en, fr, fra, fr_CA, ja, pt_BR, vi, zh, zh_TW, zho_Hans"
        )
    return Language(str(tag.language), tag.maximize().script or "")


def base_language(code: str) -> str:
    """The shortest code of the language, without script and country: ``fr`` for ``FR``, ``fra``, and ``fr_CA``."""
    return read_language(code).base


def three_letter_code(code: str) -> str:
    """The ISO 639-3 code of the language: ``fra`` for ``fr``, ``zho`` for ``zh_TW``."""
    from langcodes import Language as Tag

    return Tag.get(base_language(code)).to_alpha3()


def is_chinese(code: str) -> bool:
    """Whether a text is written in Chinese characters: Mandarin, Cantonese …, but not pinyin (``zh_Latn``)."""
    return read_language(code).script in ("Hans", "Hant", "Hani")


def has_spaces(code: str) -> bool:
    """Whether there are spaces between the words of the language; so it is taken to be where no language is named."""
    return read_language(code).script not in _WITHOUT_SPACES


def has_two_letters_i(language: str) -> bool:
    """Whether I and İ are the capitals of two letters, ı and i, as in Turkish."""
    base, script = read_language(language)
    return base in _TWO_LETTERS_I or (base in _TWO_LETTERS_I_IN_LATIN and script == "Latn")
