"""What the code of a language says, and how characters are made regular, so that one text has one form.

Codes come as people have them: ISO 639-1 (``fr``), 639-2 and 639-3 (``fra``, ``zho``, ``cmn``), with a country
(``fr_CA``, ``zh-TW``), with a script (``zho_Hans``, as in FLORES), in capitals. The library langcodes reads them.
"""

from __future__ import annotations

import re
import unicodedata
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

    base: (
        str  # the shortest ISO 639 code, without script and country: ``fr``, ``zh``, and ``haw``, which has no shorter
    )
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


# What shows nothing and joins or separates nothing: soft hyphen, zero-width space, marks of direction, byte order mark,
# interlinear marks, tags. And the code points that Unicode keeps out of text for good.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
    "\ufdd0-\ufdef" + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF)) + "]"
)
#: The Mongolian vowel separator, and the zero-width non-joiner and joiner: spelling within words of the Arabic, Indic,
#: and related scripts; they also make one sign of several emoji.
JOINERS = "\u180e\u200c\u200d"
# Letters and vowel signs of these scripts (Arabic to Sinhala without their punctuation, Myanmar, Khmer, Mongolian), and
# emoji.
_JOINED = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06ff\u0710-\u0963\u0966-\u0dff\u1000-\u109f\u1780-\u17d3\u1820-\u18aa"
    "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
)
# After these, a zero-width joiner may end a word, as in Malayalam, Bengali, and Persian: viramas, and the letter heh.
_JOINED_AT_THE_END = "\u0647\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039"
# Joiners elsewhere than between two of them, and all but the last of several.
_VAIN_JOINERS = re.compile(
    f"(?<![{_JOINED}{JOINERS}])[{JOINERS}]+|(?<![{_JOINED_AT_THE_END}{JOINERS}](?=\u200d))[{JOINERS}]+(?![{_JOINED}{JOINERS}])"
    f"|[{JOINERS}](?=[{JOINERS}])"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# SentencePiece's sign for a space.
_SENTENCEPIECE_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"

#: Chinese characters, for a class of a regular expression.
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: Ideographs, Bopomofo, CJK punctuation and full-width forms: where Chinese is written without spaces.
CHINESE = (
    "\u2e80-\u2fdf\u3000-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uffef\U00020000-\U0003ffff"
)
_SPACE_BESIDE_CHINESE = re.compile(f"(?<=[{CHINESE}]) +| +(?=[{CHINESE}])")


def normalize(text: str) -> str:
    """A line in NFC, without control and zero-width characters, with single plain spaces, and none at the ends.

    The zero-width joiners stay within words of the scripts that are spelled with them, as in Persian, and in emoji.

    Line separators of all kinds (U+2028, U+2029, U+0085, form feed, lone carriage return …) are spaces too: whatever
    splits the result into lines finds one. The character that SentencePiece takes for a space becomes an underscore.
    """
    # Of most lines nothing but the last step is needed, and to ask is faster than to look for each character.
    if not text.isprintable():
        text = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
        if any(joiner in text for joiner in JOINERS):
            text = _VAIN_JOINERS.sub("", text)
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.replace(_SENTENCEPIECE_SPACE, "_").split())


def has_two_letters_i(language: str) -> bool:
    """Whether I and İ are the capitals of two letters, ı and i, as in Turkish."""
    base, script = read_language(language)
    return base in _TWO_LETTERS_I or (base in _TWO_LETTERS_I_IN_LATIN and script == "Latn")


def lowercase(text: str, language: str) -> str:
    """A line in lower case, see `has_two_letters_i`."""
    if has_two_letters_i(language):
        text = text.replace("İ", "i").replace("I", "ı")
    return text.lower()


def join_chinese(text: str) -> str:
    """A line without the spaces beside Chinese characters, which are no part of its text."""
    return _SPACE_BESIDE_CHINESE.sub("", text)
