"""A trained model with the text that it reads and writes: from raw sentences to words, scores, and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from itertools import accumulate, groupby
from typing import Any, NamedTuple, overload

import numpy as np

from ..characters import mark_unknown
from ..evaluation.alignment import SoftAlignment
from ..evaluation.structure.gates import PyramidGates, WindowGates, gates_of
from ..subwords import END_OF_SENTENCE, merge_pieces, word_numbers
from ..text_form import LONGEST, TextForm

#: Hypotheses of a search, unless more or fewer are asked for.
BEAM = 5
#: Characters of a sentence, at most: to split a longer one would take seconds, and find too many tokens.
MOST_CHARACTERS = 10 * LONGEST
#: Words of a sentence that is drawn and cut, at most.
LONGEST_DRAWN = 80
#: At how many words a sentence is cut, at most.
MOST_CUTS = 24


class NoWordsError(ValueError):
    """A text without words, as one of characters that nobody sees.

    Attributes:
        side: whether it was to be a ``sentence`` or its ``translation``.
    """

    def __init__(self, side: str) -> None:
        super().__init__(f"the {side} has no words")
        self.side = side


class Word(NamedTuple):
    """A word as a model has it, ``</s>`` included; unknown if any piece of it is."""

    text: str
    known: bool


class Candidate(NamedTuple):
    """A translation in an n-best list, as people write it, with what the search ranks it by (base 2)."""

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
    hypotheses: list[Candidate]
    has_attention: bool
    alignment: SoftAlignment | None
    gates: PyramidGates | WindowGates | None


class Cut(NamedTuple):
    """The first words of a sentence: how many, the best translation, its log-probability (base 2) per token."""

    words: int
    source: str
    translation: str
    score: float


class ScoredWord(NamedTuple):
    """A word of a given translation: its log-probability (base 2), and the token that the model prefers there.

    The log-probability of a word that is not known, as no model knows every word, is that of any such word.
    """

    text: str
    log_probability: float
    preferred: str
    known: bool


@dataclass(frozen=True)
class Model:
    """A trained model that takes raw sentences; docs/guides/python.md has an example of each method.

    Attributes:
        name: unlike the others' that were loaded with it.
        translator: the checkpoint, a `Translator` of ``user_dir/checkpoints``; it may be asked from several threads.
        text: how text becomes its tokens and back; of a model in no run folder, words are what has spaces between them.
        form: the same, if it is that of a run folder; otherwise None.
        summary: what its box says of it; empty outside of one.
    """

    name: str
    translator: Any
    text: TextForm
    form: TextForm | None = None
    summary: str = ""

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        return self.translator.languages

    @overload
    def translate(self, text: str, *, beam: int = BEAM, length_penalty: float = 1.0) -> str: ...

    @overload
    def translate(self, text: list[str], *, beam: int = BEAM, length_penalty: float = 1.0) -> list[str]: ...

    def translate(self, text: str | list[str], *, beam: int = BEAM, length_penalty: float = 1.0) -> str | list[str]:
        """The best translation of a raw sentence, or of each of a list; one without words has an empty one.

        Raises:
            ValueError: if a sentence is too long; of a list, it says which one, from 1.
        """
        if isinstance(text, list):
            found = []
            for number, one in enumerate(text, 1):
                try:
                    found.append(self.translate(one, beam=beam, length_penalty=length_penalty))
                except ValueError as error:
                    raise ValueError(f"sentence {number}: {error}") from error
            return found
        try:
            return self.search(text, beam=beam, length_penalty=length_penalty, count=1)[0].text
        except NoWordsError:
            return ""

    def search(self, text: str, *, beam: int = BEAM, length_penalty: float = 1.0, count: int = BEAM) -> list[Candidate]:
        """The best translations of a raw sentence, at most as many as the beam has hypotheses; errors as of `read`."""
        found = self.find(self.split(text), beam=beam, length_penalty=length_penalty, count=count)
        return [Candidate(self.write(one.tokens), one.score) for one in found]

    def align(self, text: str, translation: str | None = None, *, beam: int = BEAM) -> SoftAlignment:
        """What each word of a translation attends to: of the model's own, or of one that is given.

        Raises:
            ValueError: if the model has no attention, or as of `read`.
        """
        tokens = self.split(text)
        if translation is None:
            (found,) = self.find(tokens, beam=beam, length_penalty=1, count=1)
            alignment = self.align_tokens(tokens, found)
        else:
            given = self.split(translation, target=True)
            alignment = self.align_tokens(tokens, self.translator.score(tokens, given), given)
        if alignment is None:
            raise ValueError(f"{self.name} has no attention: its decoder sees one vector for the whole sentence")
        return alignment

    def align_tokens(self, tokens: str, found: Any, given: str = "") -> SoftAlignment | None:
        """The alignment of words, from that of tokens; None without attention.

        The words of a translation that was given are what they are, whether or not the model knows them.
        """
        if found.weights is None:
            return None
        source = (*tokens.split(), END_OF_SENTENCE)
        target = [*given.split(), END_OF_SENTENCE] if given else map(mark_unknown, found.tokens)
        sides = zip((source, [*target]), self.languages)
        read, written = (list(map(self.show, self.text.mark_words(side, language))) for side, language in sides)
        return SoftAlignment.of_lists(0, read, written, found.weights).merged(self.text.scheme)

    def gates(self, text: str) -> PyramidGates | WindowGates:
        """The gates of a grConv over a raw sentence, whose leaves are the model's tokens.

        Raises:
            ValueError: if the model has none, or a lower pyramid than the sentence needs, or as of `read`.
        """
        found = self.find_gates(self.split(text))
        if found is None:
            why = "its pyramid is too low for this sentence" if self.translator.has_gates else "only a grConv has them"
            raise ValueError(f"{self.name} has no gates to show: {why}")
        return found

    def read(self, text: str, *, beam: int = BEAM, length_penalty: float = 1.0, count: int = BEAM) -> Reading:
        """Translates a raw sentence, and tells all that there is to see of it.

        Raises:
            ValueError: if it has no words or is too long.
        """
        tokens = self.split(text)
        found = self.find(tokens, beam=beam, length_penalty=length_penalty, count=count)
        source = (*tokens.split(), END_OF_SENTENCE)
        best = found[0]
        source_words, target_words = self.words(source), self.words(best.tokens, target=True)
        alignment = gates = None
        if len(source) <= LONGEST_DRAWN:
            gates = self.find_gates(tokens)
            if len(best.tokens) <= LONGEST_DRAWN:
                alignment = self.align_tokens(tokens, best)
        listed = [Candidate(self.write(one.tokens), one.score) for one in found]
        return Reading(source_words, target_words, listed, best.weights is not None, alignment, gates)

    def find(self, tokens: str, *, beam: int, length_penalty: float, count: int) -> Sequence[Any]:
        """The best translations of a sentence's tokens, as the checkpoint's `Hypothesis`.

        Raises:
            ValueError: naming a setting that no search can have.
        """
        if beam < 1 or count < 1:
            raise ValueError(f"beam and count must be at least 1, not {beam} and {count}")
        return self.translator.translate(tokens, beam=beam, length_penalty=length_penalty, count=count)

    def split(self, text: str, *, target: bool = False) -> str:
        """The model's tokens of a raw sentence.

        Raises:
            NoWordsError: if there are none.
            ValueError: if there are more than the model takes.
        """
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"This has {len(text):,} characters; a sentence may have {MOST_CHARACTERS:,}. Shorten it.")
        tokens = self.text.read(" ".join(text.split()), self.languages[1 if target else 0])
        count, most = len(tokens.split()), min(LONGEST, self.translator.longest - 1)
        if not count:
            raise NoWordsError("translation" if target else "sentence")
        if count > most:
            raise ValueError(f"This has {count:,} tokens; {self.name} takes {most:,}. Shorten it.")
        return tokens

    def unfamiliar(self, text: str) -> str | None:
        """What in a raw sentence the model has not learned to read, in a few words; None if nothing.

        Raises:
            ValueError: as of `read`.
        """
        return self.text.unfamiliar(self.split(text))

    def write(self, tokens: Sequence[str]) -> str:
        """Joins tokens to a translation as people write it."""
        return self.text.write([token for token in tokens if token != END_OF_SENTENCE])

    def merge(self, tokens: Sequence[str]) -> list[str]:
        """Merges subword tokens into words, as they are shown."""
        return list(map(self.show, self.text.merge(tokens)))

    def show(self, token: str) -> str:
        """A token for people: in Moses' tokens, some characters are escaped, such as an apostrophe as ``&apos;``."""
        return unescape(token) if self.text.splits_words else token

    def words(self, tokens: Sequence[str], *, target: bool = False, pieces: bool = False) -> list[Word]:
        """Tokens as words, or, with ``pieces``, each as it is, that are marked if the model does not know them."""
        scheme = None if pieces else self.text.scheme
        marked = tokens if pieces else self.text.mark_words(tokens, self.languages[1 if target else 0])
        numbers = word_numbers(marked, scheme)
        known = [True] * (numbers[-1] + 1)
        for token, number in zip(tokens, numbers):
            known[number] &= self.translator.knows(token, target=target)
        return [Word(*pair) for pair in zip(map(self.show, merge_pieces(marked, numbers, scheme)), known)]

    def find_gates(self, tokens: str) -> PyramidGates | WindowGates | None:
        """The gates over a sentence; None if the model has none, or a lower pyramid than the sentence needs."""
        if not self.translator.has_gates:
            return None
        found = self.translator.gates(tokens)
        whole = found.get("dilated") or len(found["gates"]) == len(found["source"]) - 1
        return gates_of({**found, "source": list(map(self.show, found["source"]))}) if whole else None

    def cut(self, text: str, *, beam: int = BEAM, length_penalty: float = 1.0) -> list[Cut]:
        """Translates the beginnings of a sentence: its first word, its first two, and so on, up to the whole of it.

        Of a sentence of more than `MOST_CUTS` words, those that end at every second word, third, or fourth.

        Raises:
            ValueError: if it has no words or is too long.
        """
        tokens = self.split(text).split()
        if len(tokens) > LONGEST_DRAWN:
            raise ValueError(f"Sentences of up to {LONGEST_DRAWN} tokens are cut; this has {len(tokens):,}.")
        numbers = word_numbers(self.text.mark_words(tokens, self.languages[0]), self.text.scheme)
        ends = list(accumulate(len(list(pieces)) for _, pieces in groupby(numbers)))
        step = -(-len(ends) // MOST_CUTS)
        # The whole sentence is always the last.
        counts = list(range(len(ends), 0, -step))[::-1]
        parts = [" ".join(tokens[: ends[count - 1]]) for count in counts]
        made = []
        for count, part in zip(counts, parts):
            (best,) = self.find(part, beam=beam, length_penalty=length_penalty, count=1)
            score = float(np.mean(best.log_probabilities))
            made.append(Cut(count, " ".join(self.merge(part.split())), self.write(best.tokens), score))
        return made

    def score(self, text: str, translation: str, *, pieces: bool = False) -> list[ScoredWord]:
        """The log-probability of each word of a given raw translation, ``</s>`` included.

        With ``pieces``, that of each token that the model writes, as the model has it.

        Raises:
            ValueError: if a side has no words or is too long.
        """
        read, tokens = self.split(text), self.split(translation, target=True)
        scored = self.translator.score(read, tokens)
        given = [*tokens.split(), END_OF_SENTENCE]
        marked = self.text.mark_words(given, self.languages[1])
        numbers = word_numbers(marked, None if pieces else self.text.scheme)
        sums = np.bincount(numbers, weights=scored.log_probabilities)
        first = [numbers.index(number) for number in range(len(sums))]
        better = [scored.preferred[place] if scored.preferred[place] != given[place] else "" for place in first]
        preferred = map(self.show, better)
        texts, known = zip(*self.words(given, target=True, pieces=pieces))
        return [ScoredWord(*word) for word in zip(texts, sums.tolist(), preferred, known)]
