"""Which words come out right: F-measure by how often a word stood in the training text."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: The least training frequency of each group; the first group is that of words never seen.
FREQUENCIES = (0, 1, 2, 5, 10, 100, 1000)


@dataclass(frozen=True)
class WordAccuracy:
    """Words of one frequency group over the whole test set, clipped a sentence as in BLEU's unigrams.

    Attributes:
        label: the training frequencies of the group.
        matches: words of the translations that the references have too.
        translated: words of the group in the translations.
        expected: words of the group in the references.
    """

    label: str
    matches: int
    translated: int
    expected: int

    @property
    def precision(self) -> float | None:
        """Share of the translations' words that are right; None if there are none."""
        return self.matches / self.translated if self.translated else None

    @property
    def recall(self) -> float | None:
        """Share of the references' words that were found; None if there are none."""
        return self.matches / self.expected if self.expected else None

    @property
    def f_measure(self) -> float | None:
        """Harmonic mean of the two; None where the group has no word on either side."""
        total = self.translated + self.expected
        return 2 * self.matches / total if total else None


def word_accuracy(
    translations: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    training_counts: Mapping[str, int],
    *,
    frequencies: Sequence[int] = FREQUENCIES,
) -> list[WordAccuracy]:
    """Counts words by the frequency group of the word itself.

    Args:
        translations: words of each translation.
        references: words of each reference, tokenised alike.
        training_counts: how often each word stands in the training text's target side.
        frequencies: where each group begins, increasing from 0.

    Raises:
        ValueError: if `frequencies` does not increase from 0, or the sides differ in length.
    """
    if not frequencies or frequencies[0] != 0 or any(low >= high for low, high in itertools.pairwise(frequencies)):
        raise ValueError(f"frequencies must increase from 0: {list(frequencies)}")
    groups = len(frequencies)
    matches, translated, expected = [0] * groups, [0] * groups, [0] * groups
    for translation, reference in zip(translations, references, strict=True):
        found, wanted = Counter(translation), Counter(reference)
        for word in found | wanted:
            index = sum(training_counts.get(word, 0) >= low for low in frequencies) - 1
            matches[index] += min(found[word], wanted[word])
            translated[index] += found[word]
            expected[index] += wanted[word]
    return [WordAccuracy(*row) for row in zip(labels(frequencies), matches, translated, expected, strict=True)]


def labels(frequencies: Sequence[int]) -> list[str]:
    """What the groups are called: ``never seen``, ``1``, ``2–4`` and so on."""
    ends = [*(high - 1 for high in frequencies[1:]), None]
    texts = []
    for low, high in zip(frequencies, ends, strict=True):
        if high is None:
            texts.append(f"{low} or more")
        elif low == high:
            texts.append("never seen" if low == 0 else str(low))
        else:
            texts.append(f"{low}–{high}")
    return texts
