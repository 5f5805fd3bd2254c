"""Words of raw text: counted, and separated for a language model."""

from __future__ import annotations

import re

# Languages without spaces between words, and how many Han characters (and runs of anything else) they have for one
# English word.
CHARACTERS_A_WORD = {"zh": 1.6}

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# A word, a number, or one other character that is no space; Han characters one by one.
_TOKEN = re.compile(rf"[{HAN}]|[^\W{HAN}]+|[^\w\s]")
_UNSPACED_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")


def count_words(text: str, language: str) -> float:
    """How many words stand between spaces; in Chinese, 1.6 Han characters count as a word."""
    if language in CHARACTERS_A_WORD:
        return len(_UNSPACED_WORD.findall(text)) / CHARACTERS_A_WORD[language]
    return len(text.split())


def tokens(text: str) -> list[str]:
    """Words and punctuation marks of a line in lower case, Han characters one by one, apostrophes of one kind."""
    return _TOKEN.findall(text.lower().replace("’", "'"))
