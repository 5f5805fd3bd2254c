"""What a translation says too often, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

#: Words among that many most frequent ones of the references count as function words.
FUNCTION_WORDS = 50
LONGEST_REPEAT = 4


@dataclass(frozen=True)
class Content:
    """Shares over a whole test set, from 0 to 1; None where nothing was counted.

    Attributes:
        length_ratio: words of the translations to words of the references.
        repeated: share of translated words that say again what stood right before them: the second of two equal
            neighbouring stretches of one to four words.
        repeated_in_reference: the same of the references, which people repeat in too.
        surplus: share of translated content words that are above their number in the reference though it has them.
        dropped: share of the references' content words that the translation lacks.
    """

    length_ratio: float | None
    repeated: float | None
    repeated_in_reference: float | None
    surplus: float | None
    dropped: float | None


def content(
    translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, function_words: int = FUNCTION_WORDS
) -> Content:
    """Counts repetitions and losses; signs and the most frequent words are not content.

    Args:
        translations: words of each translation.
        references: words of each reference, tokenised alike.
        function_words: how many of the references' most frequent words are left out of `surplus` and `dropped`.
    """
    frequent = Counter(word for sentence in references for word in sentence).most_common(function_words)
    ignored = {word for word, _ in frequent}
    surplus = dropped = translated = expected = 0
    for translation, reference in zip(translations, references, strict=True):
        found, wanted = (content_words(sentence, ignored) for sentence in (translation, reference))
        surplus += sum(count - wanted[word] for word, count in found.items() if 0 < wanted[word] < count)
        dropped += (wanted - found).total()
        translated += found.total()
        expected += wanted.total()
    words, reference_words = (sum(map(len, side)) for side in (translations, references))
    return Content(
        length_ratio=share(words, reference_words),
        repeated=share(sum(map(count_repeated, translations)), words),
        repeated_in_reference=share(sum(map(count_repeated, references)), reference_words),
        surplus=share(surplus, translated),
        dropped=share(dropped, expected),
    )


def content_words(sentence: Sequence[str], ignored: set[str]) -> Counter[str]:
    """Words that carry meaning."""
    return Counter(word for word in sentence if word not in ignored and any(map(str.isalnum, word)))


def count_repeated(sentence: Sequence[str], longest: int = LONGEST_REPEAT) -> int:
    """How many words belong to a stretch of up to `longest` words that equals the stretch right before it."""
    repeated: set[int] = set()
    for width in range(1, longest + 1):
        for start in range(width, len(sentence) - width + 1):
            if sentence[start - width : start] == sentence[start : start + width]:
                repeated.update(range(start, start + width))
    return len(repeated)


def share(part: int, whole: int) -> float | None:
    """A ratio, None of nothing."""
    return part / whole if whole else None
