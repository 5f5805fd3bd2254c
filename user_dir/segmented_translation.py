"""Long sentences cut where their spans, each translated once, cost the least (Pouget-Abadie et al. 2014, 1409.1257).

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
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from fairseq.sequence_scorer import SequenceScorer

from recurrent_mt.characters import CONTINUES
from recurrent_mt.subwords import find_scheme, word_numbers

from .checkpoints.checkpoint import Checkpoint
from .tasks.native_translation import NativeGenerator

Words = tuple[str, ...]
#: A translation has at most this many times as many words as its source, counting the end of both, as in the authors'
#: code.
LONGEST_TRANSLATION = 3
#: How many spans are searched at a time, and how many tokens of pairs are scored.
MAX_SPANS, MAX_TOKENS = 128, 4000


@dataclass(frozen=True)
class Mode:
    """A way to score spans."""

    inverse: bool  # whether the inverse model counts
    normalized: bool  # whether the cost is divided by a function of the span's length


#: The four modes that the authors' code runs side by side, under its names.
MODES = {
    "default": Mode(inverse=False, normalized=False),
    "rev": Mode(inverse=True, normalized=False),
    "norm": Mode(inverse=False, normalized=True),
    "normrev": Mode(inverse=True, normalized=True),
}


@dataclass(frozen=True)
class Candidate:
    """A translation of a span."""

    words: Words  # the translation's words
    forward_cost: float  # −log p(translation | span)
    inverse_cost: float = math.nan  # −log q(span | translation); not a number if there is no inverse model

    def cost(self, *, inverse: bool) -> float:
        """The forward model's cost, or the mean of both."""
        return (self.forward_cost + self.inverse_cost) / 2 if inverse else self.forward_cost


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


class SpanTable:
    """Translations of spans; a span that occurs several times is translated once.

    Args:
        translate: returns the candidates of each of many spans, best first.
        longest: the most words in a span.
    """

    def __init__(self, translate: Callable[[Sequence[Words]], Sequence[Sequence[Candidate]]], longest: int) -> None:
        self.longest = longest
        self._translate = translate
        self._candidates: dict[Words, Sequence[Candidate]] = {}

    def __len__(self) -> int:
        """Returns how many spans have been translated."""
        return len(self._candidates)

    def add(self, sentences: Sequence[Words]) -> None:
        """Translates, all together, the spans of these sentences that are not in the table yet."""
        spans = (words[start:end] for words in sentences for start, end in spans_of(len(words), self.longest))
        missing = [span for span in dict.fromkeys(spans) if span not in self._candidates]
        self._candidates.update(zip(missing, self._translate(missing), strict=True))

    def choose(self, span: Words, mode: Mode) -> Candidate:
        """The candidate of the lowest cost, the first one in a tie."""
        return min(self._candidates[span], key=lambda candidate: candidate.cost(inverse=mode.inverse))

    def cost(self, span: Words, mode: Mode) -> float:
        """What the span costs in a sentence."""
        cost = self.choose(span, mode).cost(inverse=mode.inverse)
        return cost / math.log(len(span) + 2) if mode.normalized else cost


@dataclass(frozen=True)
class Segment:
    """A span of a sentence and its part of the translation."""

    start: int  # position of the first word, from 0
    end: int  # position after the last word
    source: str  # its words, space-separated
    translation: str  # its translation, the same way
    cost: float  # of the span, see `SpanTable`


@dataclass(frozen=True)
class SegmentedTranslation:
    """A sentence's segments in order."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        return " ".join(segment.translation for segment in self.segments if segment.translation)

    def as_record(self) -> dict[str, object]:
        cost = sum((segment.cost for segment in self.segments), 0.0)
        return {"cost": cost, "segments": [asdict(segment) for segment in self.segments]}


def translate_by_segments(sentence: Words, table: SpanTable, mode: Mode) -> SegmentedTranslation:
    """Cuts a sentence whose spans are in the table where that costs the least, and joins the spans' translations."""
    spans = cheapest_segmentation(
        len(sentence), lambda start, end: table.cost(sentence[start:end], mode), longest=table.longest
    )
    segments = []
    for start, end in spans:
        words = sentence[start:end]
        translation = " ".join(table.choose(words, mode).words)
        if end < len(sentence):
            # The next span's first word is none of its parts.
            translation = translation.removesuffix(CONTINUES)
        segments.append(Segment(start, end, " ".join(words), translation, table.cost(words, mode)))
    return SegmentedTranslation(tuple(segments))


def cheapest_segmentation(
    length: int, span_cost: Callable[[int, int], float], *, longest: int
) -> list[tuple[int, int]]:
    """The spans, (start, end) of each, of the cheapest segmentation that has none of more than ``longest`` words.

    The best segmentation of each prefix is the best last span after the best segmentation of what comes before it. If
    two last spans of a prefix give the same sum, the longer one is used, as in the authors' ``segment.py``.

    Args:
        length: how many words the sentence has; an empty sentence costs nothing.
        span_cost: the cost of the words from start up to, not including, end.
        longest: the most words in a span.

    Raises:
        ValueError: if all segmentations have costs that are no numbers.
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


class ForwardTranslator:
    """The forward model's candidates for spans.

    Spans of the same length are searched together: none is padded, and no span's candidates depend on other spans.

    Args:
        checkpoint: the model.
        beam: of the search; all that it finds are candidates.
        unknown_penalty: fairseq's --unkpen; infinity forbids unknown words.
    """

    def __init__(self, checkpoint: Checkpoint, *, beam: int = 10, unknown_penalty: float = 0.0) -> None:
        self.checkpoint = checkpoint
        # fairseq counts the end of the source, but not that of the translation.
        self.generator = NativeGenerator(
            [checkpoint.model],
            checkpoint.task.target_dictionary,
            beam_size=beam,
            max_len_a=LONGEST_TRANSLATION,
            max_len_b=-1,
            unk_penalty=unknown_penalty,
            normalize_scores=False,
        )

    def candidates(self, spans: Sequence[Words]) -> list[list[Candidate]]:
        """The best translations of each span, cheapest first."""
        found: list[list[Candidate]] = [[] for _ in spans]
        by_length = defaultdict(list)
        for position, span in enumerate(spans):
            by_length[len(" ".join(span).split())].append(position)
        for length, positions in sorted(by_length.items()):
            texts = [" ".join(spans[position]) for position in positions]
            for batch in self.checkpoint.batches(texts, max_tokens=MAX_SPANS * (length + 1)):
                beams = self.generator.generate([self.checkpoint.model], batch)
                for row, beam in zip(batch["id"].tolist(), beams, strict=True):
                    found[positions[row]] = self._read(beam)
        return found

    def _read(self, beam: list[dict[str, Any]]) -> list[Candidate]:
        dictionary = self.checkpoint.task.target_dictionary
        candidates = []
        for hypothesis in beam:
            words = tuple(dictionary[token] for token in hypothesis["tokens"].tolist() if token != dictionary.eos())
            candidates.append(Candidate(words, -hypothesis["positional_scores"].double().sum().item()))
        return sorted(candidates, key=lambda candidate: (candidate.forward_cost, candidate.words))


class InverseScorer:
    """A model's scores of given translations.

    fairseq's scorer counts the end of a sentence once; the authors' code let its scorer see it twice, on both sides.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.scorer = SequenceScorer(checkpoint.task.target_dictionary)

    def costs(self, pairs: Sequence[tuple[Words, Words]]) -> list[float]:
        """−log q(target | source) of each pair (source, target), counting the end of the target."""
        sources, targets = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
        result = [math.nan] * len(pairs)
        for batch in self.checkpoint.batches(sources, targets, max_tokens=MAX_TOKENS):
            scored = self.scorer.generate([self.checkpoint.model], batch)
            for row, (hypothesis,) in zip(batch["id"].tolist(), scored, strict=True):
                result[row] = -hypothesis["positional_scores"].double().sum().item()
        return result


def check_inverse(forward: Checkpoint, inverse: Checkpoint) -> None:
    """Makes sure that one model translates in the opposite direction of the other.

    Raises:
        ValueError: if the languages are not swapped, naming both pairs.
    """
    there, back = forward.task.cfg, inverse.task.cfg
    if (there.source_lang, there.target_lang) != (back.target_lang, back.source_lang):
        raise ValueError(
            f"the forward model is {there.source_lang}-{there.target_lang}, so the inverse one must be "
            f"{there.target_lang}-{there.source_lang}, not {back.source_lang}-{back.target_lang}; a checkpoint "
            "that was trained without -s and -t takes the languages of its data files: give --inverse-data"
        )


def translate_spans(
    spans: Sequence[Words], forward: ForwardTranslator, inverse: InverseScorer | None = None
) -> list[list[Candidate]]:
    """The forward model's candidates for each span, cheapest first, with the inverse model's costs if there is one."""
    found = forward.candidates(spans)
    if inverse is None:
        return found
    costs = iter(inverse.costs([(candidate.words, span) for span, beam in zip(spans, found) for candidate in beam]))
    return [[replace(candidate, inverse_cost=next(costs)) for candidate in beam] for beam in found]
