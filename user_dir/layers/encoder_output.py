"""What every encoder gives, whatever the decoder reads of it."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class EncoderOutput(NamedTuple):
    """An encoded batch, in the layout in which its tokens came (fairseq pads sources on the left).

    Attributes:
        annotations: (B, S, D) what attention may look at; zeros on padding.
        padding_mask: (B, S) True on padding.
        summary: (B, C) the fixed-length vector c of Cho et al. (2014).
    """

    annotations: Tensor
    padding_mask: Tensor
    summary: Tensor

    def index_select(self, rows: Tensor) -> EncoderOutput:
        """The sentences ``rows``, every field alike."""
        return EncoderOutput(*(field.index_select(0, rows) for field in self))
