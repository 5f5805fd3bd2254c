"""HTML elements whose text is escaped by the standard library when they are written."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element, tostring


def element(name: str, attributes: Mapping[str, str] | None = None, *children: Element | str) -> Element:
    """An element with its children in order; a string becomes text, never markup."""
    made = Element(name, dict(attributes or {}))
    previous: Element | None = None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            previous = child
        elif previous is None:
            made.text = (made.text or "") + child
        else:
            previous.tail = (previous.tail or "") + child
    return made


def data_text(text: str, name: str = "span", attributes: Mapping[str, str] | None = None) -> Element:
    """Text that comes from data: its direction is its own."""
    return element(name, {"dir": "auto", **(attributes or {})}, text)


def render(made: Element) -> str:
    """The element as HTML."""
    return tostring(made, encoding="unicode", method="html")
