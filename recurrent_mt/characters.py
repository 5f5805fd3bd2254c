"""Characters made regular, so that one text has one form: what models read, and what scores compare."""

from __future__ import annotations

import re
import unicodedata

# What shows nothing and joins or separates nothing in the languages here: soft hyphen, zero-width characters, marks of
# direction, byte order mark, interlinear marks, tags. (Persian and Indic scripts do need the zero-width joiners.)
# And the code points that Unicode keeps out of text for good.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
    "\ufdd0-\ufdef" + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF)) + "]"
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

    Line separators of all kinds (U+2028, U+2029, U+0085, form feed, lone carriage return …) are spaces too: whatever
    splits the result into lines finds one. The character that SentencePiece takes for a space becomes an underscore.
    """
    # Of most lines nothing but the last step is needed, and to ask is faster than to look for each character.
    if not text.isprintable():
        text = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.replace(_SENTENCEPIECE_SPACE, "_").split())


def join_chinese(text: str) -> str:
    """A line without the spaces beside Chinese characters, which are no part of its text."""
    return _SPACE_BESIDE_CHINESE.sub("", text)
