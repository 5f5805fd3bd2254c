"""The figures of the evaluation as SVG inside the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from ..evaluation.analysis import LENGTH, Analysis
from ..evaluation.plots import list_plots
from ..evaluation.score_tables import curve_table
from ..evaluation.tables import Table, select

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


def draw_charts(analysis: Analysis, section: str) -> Iterator[Chart]:
    """The figures of a section; those of one metric share a scale, so that they compare at a glance."""
    records, window = analysis.records, analysis.settings.window
    plots = [plot for plot in list_plots(records) if plot.section == section]
    figures = [plot.draw(records, window) for plot in plots]
    for plot, figure in zip(plots, figures):
        highest = max(other.axes[0].get_ylim()[1] for one, other in zip(plots, figures) if one.metric == plot.metric)
        figure.axes[0].set_ylim(0, highest)
        systems = ", ".join(select(records, metric=plot.metric, by=plot.by)["system"].unique())
        numbers = curve_table(records, plot.metric, plot.by, window) if section == LENGTH else None
        text = f"Scores of {systems}; a table has the numbers."
        yield Chart(plot.title, write_svg(figure, plot.title, text), numbers)


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
