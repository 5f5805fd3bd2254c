"""What every encoder returns, whatever part of it the decoder reads; in a search, it is kept once a sentence."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from torch import Tensor, nn


def keep_sentences(rows: Tensor, *, sentences: int, beam: int) -> tuple[Tensor | None, int]:
    """What has to be kept of each sentence so that hypotheses can continue.

    Args:
        rows: (N',) hypotheses; hypothesis n is one of sentence n // beam.
        sentences: B.
        beam: hypotheses of each sentence.

    Returns:
        The sentences (B',) to keep, or None for all of them unchanged; and how many hypotheses each of them then has,
        in turn. If that differs from sentence to sentence, a sentence is kept once for each of its hypotheses.
    """
    # As a list, which waits for a GPU once: any question to a tensor would.
    sentence = [row // beam for row in rows.tolist()]
    groups = [(one, len(list(same))) for one, same in groupby(sentence)]
    counts = {count for _, count in groups}
    if len(counts) != 1:
        return rows.div(beam, rounding_mode="floor"), 1
    kept = [one for one, _ in groups]
    return None if kept == list(range(sentences)) else rows.new_tensor(kept), counts.pop()


def select(field: Tensor, sentences: Tensor | None) -> Tensor:
    """The sentences (B', …) of a field (B, …); for None, all of them, not copied."""
    return field if sentences is None else field.index_select(0, sentences)


def for_each_hypothesis(field: Tensor, beam: int) -> Tensor:
    """A field (B, …) with a row for each hypothesis: (B · beam, …)."""
    return field if beam == 1 else field.repeat_interleave(beam, dim=0)


class EncoderOutput(NamedTuple):
    """An encoded batch, in the layout of its tokens (fairseq pads sources on the left)."""

    #: (B, S', D) what attention may look at; zeros on padding. S' is S, one annotation per token, unless ``coverage``
    #: says otherwise.
    annotations: Tensor
    padding_mask: Tensor  # (B, S') True on padding
    summary: Tensor  # (B, C) the fixed-length vector c of Cho et al. (2014)
    #: (S', S) how each annotation's weight is divided among the tokens it covers, the same for all sentences: a row
    #: sums to 1. None if annotation j belongs to token j.
    coverage: Tensor | None = None
    beam: int = 1  # how many hypotheses a search has per sentence: row n is one of sentence n // beam

    def index_select(self, rows: Tensor) -> EncoderOutput:
        """What the hypotheses ``rows`` read; a sentence is copied only if others leave the batch."""
        sentences, beam = keep_sentences(rows, sentences=self.summary.size(0), beam=self.beam)
        annotations, padding_mask, summary = (select(field, sentences) for field in self[:3])
        return EncoderOutput(annotations, padding_mask, summary, self.coverage, beam)

    def for_each_hypothesis(self) -> EncoderOutput:
        """The same with a row for each hypothesis."""
        annotations, padding_mask, summary = (for_each_hypothesis(field, self.beam) for field in self[:3])
        return EncoderOutput(annotations, padding_mask, summary, self.coverage)

    def normalized(self, norm: nn.Module) -> EncoderOutput:
        """With a norm on annotations and summary, and zeros where there are no words."""
        annotations = norm(self.annotations).masked_fill(self.padding_mask.unsqueeze(2), 0)
        empty = self.padding_mask.all(dim=1, keepdim=True)
        return self._replace(annotations=annotations, summary=norm(self.summary).masked_fill(empty, 0))

    def over_tokens(self, attention: Tensor) -> Tensor:
        """Attention over annotations (B, …, S') as attention over source tokens (B, …, S), with the same sum."""
        return attention if self.coverage is None else attention @ self.coverage.to(attention)
