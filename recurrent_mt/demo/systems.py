"""Trained models with the text that they read and write: from raw sentences to words, scores, and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..evaluation.alignment.soft_alignment import SoftAlignment
from ..evaluation.structure.gates import PyramidGates, WindowGates, gates_of
from ..subwords import END_OF_SENTENCE, merge_pieces, word_numbers

#: Tokens of a sentence, at most: a longer one would keep other users waiting.
LONGEST = 1000
#: Words of a sentence that is drawn and cut, at most.
LONGEST_DRAWN = 80
#: At how many words a sentence is cut, at most.
MOST_CUTS = 24


class Hypothesis(Protocol):
    """A translation with its scores, see ``user_dir/checkpoints/translator.py``."""

    tokens: list[str]
    score: float
    log_probabilities: list[float]
    preferred: list[str]
    weights: list[list[float]] | None


class Translator(Protocol):
    """A loaded checkpoint, see ``user_dir/checkpoints/translator.py``."""

    languages: tuple[str, str]
    has_gates: bool
    longest: int

    def knows(self, token: str, *, target: bool = False) -> bool:
        """Whether a token is in the dictionary of its side."""

    def translate(self, source: str, *, beam: int, length_penalty: float, count: int) -> Sequence[Hypothesis]:
        """Returns the best translations of a sentence."""

    def score(self, source: str, target: str) -> Hypothesis:
        """Scores a given translation of a sentence."""

    def gates(self, source: str) -> dict[str, Any]:
        """The gates over the sentence."""


class Word(NamedTuple):
    """A word as a model has it, ``</s>`` included; unknown if any piece of it is."""

    text: str
    known: bool


class Listed(NamedTuple):
    """A translation in an n-best list, as the page shows it."""

    text: str
    score: float


class Reading(NamedTuple):
    """What one model makes of a sentence.

    Attributes:
        source: what it reads.
        target: the words of the best translation.
        hypotheses: as people write them, best first.
        has_attention: whether the decoder attends to the words.
        alignment: of words; None if there is none or the sentence is too long to draw.
        gates: of a grConv; likewise.
    """

    source: list[Word]
    target: list[Word]
    hypotheses: list[Listed]
    has_attention: bool
    alignment: SoftAlignment | None
    gates: PyramidGates | WindowGates | None


class Cut(NamedTuple):
    """The first words of a sentence: how many, the best translation, its log-probability (base 2) per token."""

    words: int
    source: str
    translation: str
    score: float


class ForcedWord(NamedTuple):
    """A word of a given translation: its log-probability (base 2), and the token that the model prefers there."""

    text: str
    log_probability: float
    preferred: str


@dataclass(frozen=True)
class DemoSystem:
    """A model on the page.

    Attributes:
        name: unlike the others'.
        translator: the model; it may be asked from several threads.
        segmentation: ``bpe``, ``sentencepiece``, or None if the model reads words.
        split_source: from raw text to the model's tokens.
        split_target: the same for the other language.
        detokenize: from words to text as people write it.
    """

    name: str
    translator: Translator
    segmentation: str | None
    split_source: Callable[[str], str]
    split_target: Callable[[str], str]
    detokenize: Callable[[str], str]

    def read(self, text: str, *, beam: int, length_penalty: float, count: int) -> Reading:
        """Translates a raw sentence.

        Raises:
            ValueError: if it has no words or is too long.
        """
        tokens = self.split(text)
        found = self.translator.translate(tokens, beam=beam, length_penalty=length_penalty, count=count)
        source = (*tokens.split(), END_OF_SENTENCE)
        best = found[0]
        source_words, target_words = self.words(source), self.words(best.tokens, target=True)
        alignment = gates = None
        if len(source) <= LONGEST_DRAWN:
            gates = self.find_gates(tokens)
            if best.weights is not None and len(best.tokens) <= LONGEST_DRAWN:
                whole = SoftAlignment(0, source, tuple(best.tokens), np.array(best.weights, dtype=float))
                alignment = whole.merged(self.segmentation)
        listed = [Listed(self.write(one.tokens), one.score) for one in found]
        return Reading(source_words, target_words, listed, best.weights is not None, alignment, gates)

    def split(self, text: str, *, target: bool = False) -> str:
        """The model's tokens of a raw sentence.

        Raises:
            ValueError: if there are none, as in a text of characters that nobody sees, or more than the model takes.
        """
        tokens = (self.split_target if target else self.split_source)(" ".join(text.split()))
        count, most = len(tokens.split()), min(LONGEST, self.translator.longest - 1)
        if not count:
            raise ValueError(f"Type a {'translation' if target else 'sentence'} first.")
        if count > most:
            raise ValueError(f"This has {count:,} tokens; {self.name} takes {most:,}. Shorten it.")
        return tokens

    def write(self, tokens: Sequence[str]) -> str:
        """Joins tokens to a translation as people write it."""
        words = [word for word in self.merge(tokens) if word != END_OF_SENTENCE]
        return self.detokenize(" ".join(words))

    def merge(self, tokens: Sequence[str]) -> list[str]:
        """Merges subword tokens into words."""
        return merge_pieces(tokens, word_numbers(tokens, self.segmentation), self.segmentation)

    def words(self, tokens: Sequence[str], *, target: bool = False) -> list[Word]:
        """Tokens as words that are marked if the model does not know them."""
        numbers = word_numbers(tokens, self.segmentation)
        known = [True] * (numbers[-1] + 1)
        for token, number in zip(tokens, numbers):
            known[number] &= self.translator.knows(token, target=target)
        return [Word(*pair) for pair in zip(self.merge(tokens), known)]

    def find_gates(self, tokens: str) -> PyramidGates | WindowGates | None:
        """The gates over a sentence; None if the model has none, or a lower pyramid than the sentence needs."""
        if not self.translator.has_gates:
            return None
        found = self.translator.gates(tokens)
        whole = found.get("dilated") or len(found["gates"]) == len(found["source"]) - 1
        return gates_of(found) if whole else None

    def read_cuts(self, text: str, *, beam: int) -> list[Cut]:
        """Translates the first word of a sentence, the first two, and so on; of a long one, evenly spread lengths.

        Raises:
            ValueError: if it has no words or is too long.
        """
        tokens = self.split(text).split()
        if len(tokens) > LONGEST_DRAWN:
            raise ValueError(f"Sentences of up to {LONGEST_DRAWN} tokens are cut; this has {len(tokens):,}.")
        ends = list(accumulate(len(list(pieces)) for _, pieces in groupby(word_numbers(tokens, self.segmentation))))
        step = -(-len(ends) // MOST_CUTS)
        # The whole sentence is always the last.
        counts = list(range(len(ends), 0, -step))[::-1]
        parts = [" ".join(tokens[: ends[count - 1]]) for count in counts]
        found = [self.translator.translate(part, beam=beam, length_penalty=1, count=1)[0] for part in parts]
        return [
            Cut(count, " ".join(self.merge(part.split())), self.write(best.tokens), best.score)
            for count, part, best in zip(counts, parts, found)
        ]

    def force(self, source: str, target: str) -> list[ForcedWord]:
        """The log-probability of each word of a given raw translation, ``</s>`` included.

        Raises:
            ValueError: if a side has no words or is too long.
        """
        read, tokens = self.split(source), self.split(target, target=True)
        scored = self.translator.score(read, tokens)
        given = [*tokens.split(), END_OF_SENTENCE]
        numbers = word_numbers(given, self.segmentation)
        sums = np.bincount(numbers, weights=scored.log_probabilities)
        first = [numbers.index(number) for number in range(len(sums))]
        preferred = [scored.preferred[place] if scored.preferred[place] != given[place] else "" for place in first]
        return [ForcedWord(*word) for word in zip(self.merge(given), sums.tolist(), preferred)]
