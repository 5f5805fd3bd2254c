"""The figures of the evaluation as SVG inside the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from ..evaluation.analysis import Analysis
from ..evaluation.plots import length_figure, length_sides, unknown_figure, unknown_word_counts, word_figure
from ..evaluation.records import select_records
from ..evaluation.tables import Table
from ..evaluation.words import F_MEASURE
from .tables import LENGTHS, show_curve

#: What refers to an identifier: a link or a clip path.
REFERENCE = re.compile(r"(^|url\()#")
#: Identifier of an artist that belongs to a system.
SYSTEM = re.compile(r"system-(\d+)-")


@dataclass(frozen=True)
class Chart:
    """A figure of the page.

    Attributes:
        title: what it shows.
        svg: the drawing.
        numbers: what it was drawn from, where no other table of the section has that.
    """

    title: str
    svg: Markup
    numbers: Table | None = None


def draw_length_charts(analysis: Analysis) -> Iterator[Chart]:
    """Each detailed metric along the length of each side."""
    for metric in analysis.signatures:
        sides = length_sides(analysis.records, metric)
        figures = [length_figure(analysis.records, metric, side, analysis.settings.window) for side in sides]
        share_scale(figures)
        for side, figure in zip(sides, figures):
            title, numbers = f"{metric} by {LENGTHS[side]}", show_curve(analysis, metric, side)
            text = f"A line for each of {', '.join(numbers.header[2:])}; its numbers are below."
            yield Chart(title, write_svg(figure, title, text), numbers)


def draw_unknown_word_charts(analysis: Analysis, metric: str) -> Iterator[Chart]:
    """A metric by the number of unknown words on each side."""
    records, found = analysis.records, {}
    for by in unknown_word_counts(records, metric):
        groups = select_records(records, metric=metric, by=by)
        if any(group.n for group in groups):
            found[by] = list(dict.fromkeys(group.system for group in groups))
    figures = [unknown_figure(records, metric, by) for by in found]
    share_scale(figures)
    for (by, systems), figure in zip(found.items(), figures):
        title = f"{metric} by {by}"
        text = f"Points for each of {', '.join(systems)}; the table of the same title has the numbers."
        yield Chart(title, write_svg(figure, title, text))


def draw_word_chart(analysis: Analysis) -> Chart:
    """F-measure of words by their frequency in training."""
    title = "F-measure of words by frequency in training"
    systems = dict.fromkeys(record.system for record in select_records(analysis.records, metric=F_MEASURE))
    text = f"Points for each of {', '.join(systems)}; the table in this section has the numbers."
    return Chart(title, write_svg(word_figure(analysis.records), title, text))


def share_scale(figures: Sequence[Figure]) -> None:
    """Gives the vertical axes one end, so that charts of one metric compare at a glance."""
    axes = [figure.axes[0] for figure in figures]
    for one in axes:
        one.set_ylim(0, max(other.get_ylim()[1] for other in axes))


def write_svg(figure: Figure, title: str, description: str) -> Markup:
    """A figure as an SVG element.

    Text stays text, in the page's font. All identifiers begin with the title, so that no two figures of a page share
    one; ``data-system`` tells the page's script whose a line is. Style attributes become presentation attributes, which
    the page's content security policy need not allow.
    """
    name, buffer = make_identifier(title), StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
        parent.tag = parent.tag.rpartition("}")[2]
        parent.attrib = make_own(parent.attrib, f"{name}-")
    label, text = f"{name}-title", f"{name}-text"
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-labelledby": f"{label} {text}"}
    for tag, identifier, words in (("desc", text, description), ("title", label, title)):
        child = ElementTree.Element(tag, {"id": identifier})
        child.text = words
        root.insert(0, child)
    return Markup(ElementTree.tostring(root, encoding="unicode", method="html"))


def make_own(attributes: dict[str, str], prefix: str) -> dict[str, str]:
    """Attributes of an element, its identifiers and references with a prefix and its style spelled out."""
    found: dict[str, str] = {}
    for key, value in attributes.items():
        key = key.rpartition("}")[2]
        if key == "style":
            declarations = (part.split(":", 1) for part in value.split(";") if ":" in part)
            found |= {name.strip(): text.strip() for name, text in declarations if name.strip() != "font-family"}
        elif key == "id":
            found[key] = prefix + value
            if match := SYSTEM.match(value):
                found["data-system"] = match[1]
        else:
            found[key] = REFERENCE.sub(rf"\1#{prefix}", value)
    return found


def make_identifier(text: str) -> str:
    """A name for an element; empty for text of letters that addresses lack."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
