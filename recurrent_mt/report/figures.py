"""Figures made elsewhere, each shown as an image of its own.

An SVG inside an ``img`` element is a document apart: its identifiers and style rules cannot clash with those of the
page or of another figure, and no browser runs a script in it or loads what it refers to.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from .markup import data_text, element
from .report import Figure, Printout
from .section import Section


def figure_sections(figures: Sequence[Figure | Printout]) -> Iterator[Section]:
    """A section for each heading, in the order of the first figure of each."""
    for title in dict.fromkeys(figure.section for figure in figures):
        shown = [one for one in figures if one.section == title]
        yield Section(
            title, [printout_markup(one) if isinstance(one, Printout) else figure_markup(one) for one in shown]
        )


def printout_markup(printout: Printout) -> Element:
    """Title, and the lines in a box that scrolls by itself."""
    box = {"class": "scroll card", "role": "region", "tabindex": "0", "aria-label": printout.title}
    text = element("pre", box, printout.text)
    return element("figure", {"class": "drawing"}, data_text(printout.title, "figcaption"), text)


def figure_markup(figure: Figure) -> Element:
    """Title, drawing in a box that scrolls by itself, caption."""
    encoded = base64.b64encode(figure.svg.encode("utf-8")).decode("ascii")
    image = element("img", {"src": f"data:image/svg+xml;base64,{encoded}", "alt": figure.title})
    box = {"class": "scroll card", "role": "region", "tabindex": "0", "aria-label": figure.title}
    made = element("figure", {"class": "drawing"}, element("div", box, image), data_text(figure.title, "figcaption"))
    if figure.caption:
        made.append(data_text(figure.caption, "p", {"class": "note"}))
    return made
