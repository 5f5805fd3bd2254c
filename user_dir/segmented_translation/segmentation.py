"""Sentences cut where their spans, each translated once, cost the least, and translated span by span.

The cost follows from how the forward and the inverse model score a span's candidate translations. With f the cost
−log p(translation | span) of the forward model and r the cost −log q(span | translation) of the inverse one, sums over
the words and the end of the sentence, natural logarithm, and n the number of words in the span:

    mode       the candidate chosen    the span's cost
    default    least f                 f
    rev        least (f + r) / 2       (f + r) / 2
    norm       as default              f / log(n + 2)
    normrev    as rev                  (f + r) / 2 / log(n + 2)

A word that a model reads as several subwords is one word here, with spaces between its subwords: no cut divides it. The
divisor is that of the authors' code (``segment.py``: log of the span's length, its end counted, plus one).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter

from recurrent_mt.characters import BEGINS, CONTINUES
from recurrent_mt.subwords import find_scheme, word_numbers

Words = tuple[str, ...]

#: Costs of a span that is copied, and of one that is used only if nothing else covers its words; the numbers come from
#: the authors' code.
COPY_COST, LAST_RESORT = 1e-4, 1e9

PERIOD = "."
#: The first letter of tokens, after SentencePiece's marks of a word.
FIRST_LETTER = re.compile(f"[{BEGINS} ]*.")


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


def normalize(cost: float, words: int) -> float:
    """The cost divided by a function of the span's length; `LAST_RESORT` stays."""
    return cost / math.log(words + 2) if cost < LAST_RESORT else LAST_RESORT


def group_subwords(sentences: Sequence[Sequence[str]]) -> list[Words]:
    """The words of sentences that are tokens; one of several subwords has spaces between them."""
    scheme = find_scheme(sentences)
    found = []
    for tokens in sentences:
        numbered = zip(word_numbers(tokens, scheme), tokens, strict=True)
        found.append(tuple(" ".join(token for _, token in word) for _, word in groupby(numbered, itemgetter(0))))
    return found


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
    """

    longest: int = 20
    copy_unknown: bool = False
    add_period: bool = False


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
        self._candidates: dict[Words, Sequence[Candidate]] = {}

    def __len__(self) -> int:
        """Returns how many spans have been translated."""
        return len(self._candidates)

    def add(self, sentences: Sequence[Words]) -> None:
        """Translates, all together, the spans of these sentences that are not in the table yet."""
        missing: dict[Words, None] = {}
        for words in sentences:
            for start, end in spans_of(len(words), self.options.longest):
                span = words[start:end]
                if span not in self._candidates and not self._unknown(span):
                    missing[span] = None
        suffix = (PERIOD,) if self.options.add_period else ()
        found = self._translate([span + suffix for span in missing])
        self._candidates.update(zip(missing, found, strict=True))

    def cost(self, span: Words, mode: Mode) -> float:
        """What the span costs in a sentence; +∞ where it must not be used."""
        unknown = self._unknown(span)
        if unknown:
            return COPY_COST if unknown == len(span) else math.inf
        cost = self._choice(span, mode).cost
        return normalize(cost, len(span) + self.options.add_period) if mode.normalized else cost

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
        if words and not last:
            # The next span's first word is none of its parts.
            words = (*words[:-1], words[-1].removesuffix(CONTINUES))
        if not self.options.add_period or not words:
            return words
        if not first:
            words = tuple(FIRST_LETTER.sub(lambda found: found[0].lower(), " ".join(words), count=1).split(" "))
        return words[:-1] if not last and words[-1] == PERIOD else words

    def _unknown(self, span: Words) -> int:
        """Counts the words that are copied."""
        return sum(map(self._is_unknown, span)) if self.options.copy_unknown else 0

    def _choice(self, span: Words, mode: Mode) -> Choice:
        return choose(self._candidates[span], inverse=mode.inverse)


@dataclass(frozen=True)
class Segment:
    """A span of a sentence and its part of the translation.

    Attributes:
        start: position of the first word, from 0.
        end: position after the last word.
        source: its words, space-separated.
        translation: its translation, the same way.
        cost: of the span, see `SpanTable`.
    """

    start: int
    end: int
    source: str
    translation: str
    cost: float


@dataclass(frozen=True)
class SegmentedTranslation:
    """A sentence's segments in order."""

    segments: tuple[Segment, ...]

    @property
    def cost(self) -> float:
        return sum((segment.cost for segment in self.segments), 0.0)

    @property
    def text(self) -> str:
        return " ".join(segment.translation for segment in self.segments if segment.translation)

    def as_record(self) -> dict[str, object]:
        return {"cost": self.cost, "segments": [asdict(segment) for segment in self.segments]}


def translate_by_segments(sentence: Words, table: SpanTable, mode: Mode) -> SegmentedTranslation:
    """Cuts a sentence whose spans are in the table where that costs the least, and joins the spans' translations."""
    spans = cheapest_segmentation(
        len(sentence), lambda start, end: table.cost(sentence[start:end], mode), longest=table.options.longest
    )
    segments = []
    for start, end in spans:
        words = sentence[start:end]
        translation = table.translation(words, mode, first=start == 0, last=end == len(sentence))
        segments.append(Segment(start, end, " ".join(words), " ".join(translation), table.cost(words, mode)))
    return SegmentedTranslation(tuple(segments))


def cheapest_segmentation(
    length: int, span_cost: Callable[[int, int], float], *, longest: int
) -> list[tuple[int, int]]:
    """The spans, (start, end) of each, of the cheapest segmentation that has none of more than ``longest`` words.

    The best segmentation of each prefix is the best last span after the best segmentation of what comes before it. If
    two last spans of a prefix give the same sum, the longer one is used, as in the authors' ``segment.py``.

    Args:
        length: how many words the sentence has; an empty sentence costs nothing.
        span_cost: the cost of the words from start up to, not including, end; +∞ forbids the span.
        longest: the most words in a span.

    Raises:
        ValueError: if all segmentations are forbidden, or have costs that are no numbers.
    """
    prefix_cost = [0.0] + [math.inf] * length
    last_start = [0] * (length + 1)
    for end in range(1, length + 1):
        for start in range(max(0, end - longest), end):
            cost = prefix_cost[start] + span_cost(start, end)
            if cost < prefix_cost[end]:
                prefix_cost[end], last_start[end] = cost, start
    if prefix_cost[length] == math.inf:
        raise ValueError(f"no segmentation of the {length} words has a cost that is a number")
    spans, end = [], length
    while end > 0:
        spans.append((last_start[end], end))
        end = last_start[end]
    return spans[::-1]
