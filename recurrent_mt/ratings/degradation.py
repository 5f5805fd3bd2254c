"""Translations made worse on purpose, as controls: direct assessment's "bad references".

Some words in the middle of a translation are replaced by as many successive words of another sentence. What comes in is
mostly fluent, so that the damage is found by reading only. How many words, and that the first and the last word stay
where there are three or more, follows the code of Graham et al. 2016 ("Is all That Glitters in Machine Translation
Quality Estimation really Gold?", ``bad-refs.py``). They take the new words from references; here they come from other
translations of the same system, so that capitals and punctuation do not give them away.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

#: Han, kana and their extensions are words of one character, for want of spaces; all else is split at white space.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def count_replaced_words(words: int) -> int:
    """How many words of a translation of so many words are replaced."""
    for longest, replaced in ((3, 1), (5, 2), (7, 3), (14, 4), (19, 5)):
        if words <= longest:
            return replaced
    return words // 4


def degrade(text: str, donors: Sequence[str], rng: random.Random) -> str | None:
    """Replaces a stretch of words by one of the same length out of another sentence.

    Args:
        text: the translation.
        donors: the other sentences.
        rng: the source of random choices.

    Returns:
        The worse translation; None if it is empty or no other sentence has such a stretch of other words.
    """
    spans = find_words(text)
    if not spans:
        return None
    count = count_replaced_words(len(spans))
    first = rng.randint(*bound_start(len(spans), count))
    begin, end = spans[first][0], spans[first + count - 1][1]
    for donor in rng.sample(donors, len(donors)):
        stretch = pick_stretch(donor, count, rng)
        if stretch is not None and stretch.casefold() != text[begin:end].casefold():
            return text[:begin] + stretch + text[end:]
    return None


def bound_start(words: int, count: int) -> tuple[int, int]:
    """Where the replaced stretch may start: inside the first and the last word where there is room."""
    if words >= count + 2:
        return 1, words - 1 - count
    return words - count, words - count


def pick_stretch(text: str, count: int, rng: random.Random) -> str | None:
    """So many successive words of the text, without its first and last; None if it is too short."""
    spans = find_words(text)[1:-1]
    if len(spans) < count:
        return None
    first = rng.randint(0, len(spans) - count)
    return text[spans[first][0] : spans[first + count - 1][1]]


def find_words(text: str) -> list[tuple[int, int]]:
    """Begin and end of each word in the text."""
    return [match.span() for match in WORD.finditer(text)]
