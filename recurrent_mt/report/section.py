"""A part of the page that the contents list names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from .charts import slug
from .markup import data_text, element


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    content: Sequence[Element]

    @property
    def identifier(self) -> str:
        """What links point to; titles of letters that addresses lack are told apart by their code points."""
        return slug(self.title) or "section-" + "-".join(f"{ord(letter):x}" for letter in self.title)

    def markup(self) -> Element:
        """The section."""
        heading = f"{self.identifier}-heading"
        return element(
            "section",
            {"id": self.identifier, "aria-labelledby": heading},
            data_text(self.title, "h2", {"id": heading}),
            *self.content,
        )


def contents_list(sections: Sequence[Section]) -> Element:
    """Links to the sections."""
    items = [
        element("li", None, data_text(section.title, "a", {"href": f"#{section.identifier}"})) for section in sections
    ]
    return element("nav", {"class": "contents", "aria-label": "Contents"}, element("ol", None, *items))
