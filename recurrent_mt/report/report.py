"""What a report is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..evaluation.evaluation import Settings
from ..evaluation.study import Study
from ..evaluation.training_facts import TrainingFacts
from .attachments import Attachment

#: Sentences whose n-best lists a page carries unless told otherwise: lists are longer than all other text together.
LISTED_SENTENCES = 500


@dataclass(frozen=True)
class Report:
    """A study and what is shown with it.

    Attributes:
        study: systems and what was counted of them.
        settings: what the study was made with.
        title: heading of the page.
        training: facts of systems whose logs are at hand.
        attachments: figures and tables of other commands, in the order in which they are shown; sections follow the
            first of each.
        listed_sentences: so many sentences, from the first one on, are shown with their n-best lists.
    """

    study: Study
    settings: Settings
    title: str
    training: Sequence[TrainingFacts] = field(default_factory=list)
    attachments: Sequence[Attachment] = field(default_factory=list)
    listed_sentences: int = LISTED_SENTENCES

    @property
    def systems(self) -> list[str]:
        """Names, the baseline first; a system's place decides its color."""
        return [system.name for system in self.study.systems]
