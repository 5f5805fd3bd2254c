"""What a report is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas

from ..evaluation.analysis import Analysis
from ..evaluation.records import make_frame
from .attachments import Attachment

#: Sentences whose n-best lists a page carries unless told otherwise: lists are longer than all other text together.
LISTED_SENTENCES = 500


@dataclass(frozen=True)
class Report:
    """An analysis and what is shown with it.

    Attributes:
        analysis: systems and what was counted of them.
        title: heading of the page.
        training: records of the trainings whose logs are at hand.
        attachments: figures and tables of other commands, in the order in which they are shown; sections follow the
            first of each.
        listed_sentences: so many sentences, from the first one on, are shown with their n-best lists.
    """

    analysis: Analysis
    title: str
    training: pandas.DataFrame = field(default_factory=lambda: make_frame([]))
    attachments: Sequence[Attachment] = field(default_factory=list)
    listed_sentences: int = LISTED_SENTENCES

    @property
    def systems(self) -> list[str]:
        """Names, the baseline first; a system's place decides its color."""
        return self.analysis.names
