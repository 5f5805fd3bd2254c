"""What a report is made of."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas

from ..evaluation.analysis import Analysis
from ..evaluation.records import make_frame


@dataclass(frozen=True)
class Figure:
    """A drawing that the report shows beside what it counts itself.

    Attributes:
        section: heading of the section that it belongs to, for example ``Alignments``.
        title: what the figure shows, one line.
        caption: what has to be known to read it; may be empty.
        svg: the text of an SVG file.
    """

    section: str
    title: str
    caption: str
    svg: str

    def __post_init__(self) -> None:
        """Checks the drawing.

        Raises:
            ValueError: if it is no SVG.
        """
        try:
            root = ElementTree.fromstring(self.svg)
        except ElementTree.ParseError as error:
            raise ValueError(f"figure {self.title!r} is not well-formed XML: {error}") from error
        if root.tag != "{http://www.w3.org/2000/svg}svg":
            raise ValueError(f"figure {self.title!r} is no SVG: its outermost element is {root.tag}")


@dataclass(frozen=True)
class Printout:
    """A table that another program printed, shown as it is.

    Attributes:
        section: as of a `Figure`.
        title: what it says, one line.
        text: its lines.
    """

    section: str
    title: str
    text: str


#: Sentences whose n-best lists a page carries unless told otherwise: lists are longer than all other text together.
LISTED_SENTENCES = 500


@dataclass(frozen=True)
class Report:
    """An analysis and what is shown with it.

    Attributes:
        analysis: systems and what was counted of them.
        title: heading of the page.
        training: records of the trainings whose logs are at hand.
        figures: and printouts, in the order in which they are shown; sections follow the first of each.
        listed_sentences: so many sentences, from the first one on, are shown with their n-best lists.
    """

    analysis: Analysis
    title: str
    training: pandas.DataFrame = field(default_factory=lambda: make_frame([]))
    figures: Sequence[Figure | Printout] = field(default_factory=list)
    listed_sentences: int = LISTED_SENTENCES

    @property
    def systems(self) -> list[str]:
        """Names, the baseline first; a system's place decides its colour."""
        return self.analysis.names
