"""Spans translated and scored by fairseq's models, many at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairseq.sequence_scorer import SequenceScorer

from ..checkpoints.checkpoint import Checkpoint
from ..tasks.native_translation import NativeGenerator
from .segmentation import Candidate, Words

#: A translation has at most this many times as many words as its source, counting the end of both, as in the authors'
#: code.
LONGEST_TRANSLATION = 3
#: How many spans are searched at a time, and how many tokens of pairs are scored.
MAX_SPANS, MAX_TOKENS = 128, 4000


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
