"""The spans of sentences, each translated once: what they cost, and how their unknown words are handled.

The cost follows from how the forward and the inverse model score a span's candidate translations. With f the cost
−log p(translation | span) of the forward model and r the cost −log q(span | translation) of the inverse one, sums over
the words and the end of the sentence, natural logarithm, and n the number of words in the span:

    mode       the candidate chosen    the span's cost
    default    least f                 f
    rev        least (f + r) / 2       (f + r) / 2
    norm       as default              f / divisor(n)
    normrev    as rev                  (f + r) / 2 / divisor(n)

divisor(n) is log(n + 2) in the authors' code (``segment.py``: log of the span's length, its end counted, plus one). The
paper's score, from memory and not checked against its text, is ``normrev`` with divisor(n) = |log n|.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Words = tuple[str, ...]

#: Costs of a span that is copied, and of one that is used only if nothing else covers its words; the numbers come from
#: the authors' code.
COPY_COST, LAST_RESORT = 1e-4, 1e9

PERIOD = "."


@dataclass(frozen=True)
class Mode:
    """A way to score spans.

    Attributes:
        inverse: whether the inverse model counts.
        normalized: whether the cost is divided by a function of the span's length.
    """

    inverse: bool
    normalized: bool


#: The four modes that the authors' code runs side by side, under its names.
MODES = {
    "default": Mode(inverse=False, normalized=False),
    "rev": Mode(inverse=True, normalized=False),
    "norm": Mode(inverse=False, normalized=True),
    "normrev": Mode(inverse=True, normalized=True),
}


@dataclass(frozen=True)
class Candidate:
    """A translation of a span.

    Attributes:
        words: the translation's words.
        forward_cost: −log p(translation | span).
        inverse_cost: −log q(span | translation); None if there is no inverse model.
    """

    words: tuple[str, ...]
    forward_cost: float
    inverse_cost: float | None = None


@dataclass(frozen=True)
class Choice:
    """The translation that a span contributes, and its cost before any division by a length."""

    words: tuple[str, ...]
    cost: float


def choose(candidates: Sequence[Candidate], *, inverse: bool) -> Choice:
    """The candidate with the lowest cost (with the inverse model, the mean of both), the first one in a tie.

    A span without candidates, because none of its translations ended, contributes no words, at the cost `LAST_RESORT`.

    Raises:
        ValueError: if the inverse model counts but has not scored a candidate.
    """
    choices = []
    for candidate in candidates:
        cost = candidate.forward_cost
        if inverse:
            if candidate.inverse_cost is None:
                raise ValueError("the candidates have no inverse cost: an inverse model is needed")
            cost = (cost + candidate.inverse_cost) / 2
        choices.append(Choice(candidate.words, cost))
    return min(choices, key=lambda choice: choice.cost, default=Choice((), LAST_RESORT))


def code_divisor(words: int) -> float:
    """Returns the divisor that the authors' ``segment.py`` uses."""
    return math.log(words + 2)


def paper_divisor(words: int) -> float:
    """The paper's divisor, from memory: zero for a span of one word."""
    return abs(math.log(words))


#: What a normalized cost is divided by.
DIVISORS: dict[str, Callable[[int], float]] = {"code": code_divisor, "paper": paper_divisor}


def normalize(cost: float, words: int, divisor: Callable[[int], float] = code_divisor) -> float:
    """The cost divided by a function of the span's length; `LAST_RESORT` if that is zero or the cost is it already."""
    divided_by = divisor(words)
    return cost / divided_by if divided_by and cost < LAST_RESORT else LAST_RESORT


def spans_of(length: int, longest: int) -> Iterator[tuple[int, int]]:
    """(start, end) of every span of up to ``longest`` words in a sentence of ``length`` words."""
    for start in range(length):
        for end in range(start + 1, min(start + longest, length) + 1):
            yield start, end


@dataclass(frozen=True)
class SpanOptions:
    """How spans are made and what they cost.

    Attributes:
        longest: the most words in a span; the authors' code uses 20.
        copy_unknown: a span of only unknown words is copied, and no span may hold both known and unknown words.
        add_period: every span is translated with a period after it. The period is removed from the translation of every
            span except the last, and the first letter is lowercased in every span except the first.
        divisor: what normalized costs are divided by, a function of the number of words.
    """

    longest: int = 20
    copy_unknown: bool = False
    add_period: bool = False
    divisor: Callable[[int], float] = code_divisor


@dataclass(frozen=True)
class _Choices:
    forward: Choice
    both: Choice | None


class SpanTable:
    """Translations of spans; a span that occurs several times is translated once.

    Args:
        translate: returns the candidates of each of many spans, best first.
        is_unknown: whether the forward model does not know a source word.
        options: see `SpanOptions`.
    """

    def __init__(
        self,
        translate: Callable[[Sequence[Words]], Sequence[Sequence[Candidate]]],
        is_unknown: Callable[[str], bool],
        options: SpanOptions,
    ) -> None:
        self.options = options
        self._translate = translate
        self._is_unknown = is_unknown
        self._choices: dict[Words, _Choices] = {}

    def __len__(self) -> int:
        """Returns how many spans have been translated."""
        return len(self._choices)

    def add(self, sentences: Sequence[Words]) -> None:
        """Translates, all together, the spans of these sentences that are not in the table yet."""
        missing: dict[Words, None] = {}
        for words in sentences:
            for start, end in spans_of(len(words), self.options.longest):
                span = words[start:end]
                if span not in self._choices and not self._unknown(span):
                    missing[span] = None
        suffix = (PERIOD,) if self.options.add_period else ()
        found = self._translate([span + suffix for span in missing])
        for span, candidates in zip(missing, found, strict=True):
            scored = all(candidate.inverse_cost is not None for candidate in candidates)
            both = choose(candidates, inverse=True) if scored else None
            self._choices[span] = _Choices(choose(candidates, inverse=False), both)

    def cost(self, span: Words, mode: Mode) -> float:
        """What the span costs in a sentence; +∞ where it must not be used."""
        unknown = self._unknown(span)
        if unknown:
            return COPY_COST if unknown == len(span) else math.inf
        cost = self._choice(span, mode).cost
        if not mode.normalized:
            return cost
        return normalize(cost, len(span) + self.options.add_period, self.options.divisor)

    def translation(self, span: Words, mode: Mode, *, first: bool, last: bool) -> Words:
        """What the span contributes to the translation of a sentence.

        Args:
            span: its words.
            mode: see `MODES`.
            first: whether the sentence begins with it.
            last: whether the sentence ends with it.
        """
        if self._unknown(span):
            return span
        words = self._choice(span, mode).words
        if not self.options.add_period or not words:
            return words
        if not first:
            words = (words[0][:1].lower() + words[0][1:], *words[1:])
        return words[:-1] if not last and words[-1] == PERIOD else words

    def _unknown(self, span: Words) -> int:
        """Counts the words that are copied."""
        return sum(map(self._is_unknown, span)) if self.options.copy_unknown else 0

    def _choice(self, span: Words, mode: Mode) -> Choice:
        choices = self._choices[span]
        if not mode.inverse:
            return choices.forward
        if choices.both is None:
            raise ValueError("this mode needs an inverse model")
        return choices.both
