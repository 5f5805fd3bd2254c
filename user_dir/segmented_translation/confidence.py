"""What a span costs, given how the forward and the inverse model score its candidate translations.

With f the cost −log p(translation | span) of the forward model and r the cost −log q(span | translation) of the inverse
one, sums over the words and the end of the sentence, natural logarithm, and n the number of words in the span:

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Cost of a span that is used only if nothing else covers its words; the number comes from the authors' code.
LAST_RESORT = 1e9


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
