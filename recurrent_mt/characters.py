"""Characters made regular, so that one text has one form, for models and for scores; and the marks of models' text."""

from __future__ import annotations

import re
import unicodedata

from .languages import has_two_letters_i

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

#: What an unknown word is written as, by SentencePiece, too: one wrong word for every metric. Of ``<unk>``, BLEU would
#: make three tokens.
UNKNOWN = "⁇"

#: How pieces are marked: subword-nmt's BPE ends all but the last piece of a word with the first, SentencePiece begins
#: the first piece of a word with the second.
CONTINUES = "@@"
BEGINS = "▁"
#: A character as Moses writes those that are special to XML. No piece of it means anything.
ESCAPED_CHARACTER = "&(?:amp|lt|gt|quot|apos|#91|#93|#124);"

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
    return " ".join(text.replace(BEGINS, "_").split())


def lowercase(text: str, language: str) -> str:
    """A line in lower case, see `has_two_letters_i`."""
    if has_two_letters_i(language):
        text = text.replace("İ", "i").replace("I", "ı")
    return text.lower()


def join_chinese(text: str) -> str:
    """A line without the spaces beside Chinese characters, which are no part of its text."""
    return _SPACE_BESIDE_CHINESE.sub("", text)


def is_subword(token: str) -> bool:
    """Whether a token has the mark of BPE's or SentencePiece's pieces."""
    return token.endswith(CONTINUES) or token.startswith(BEGINS)


def mark_unknown(text: str) -> str:
    """The text with the character `UNKNOWN` for each unknown word."""
    return text.replace("<unk>", UNKNOWN)


def has_escaped_character(word: str) -> bool:
    """Whether Moses has escaped a character of a word."""
    return re.search(ESCAPED_CHARACTER, word) is not None
