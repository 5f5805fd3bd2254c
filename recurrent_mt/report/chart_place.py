"""Where the page's script draws a chart, and the numbers that it draws."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from .charts import Chart
from .markup import element


def chart_place(chart: Chart, numbers: Element | None = None) -> Element:
    """A figure with its title, an empty plot, and the numbers where no table of the section has them."""
    caption = element("figcaption", {"id": f"{chart.identifier}-title"}, chart.title)
    plot = element("div", {"class": "plot", "data-chart": chart.identifier})
    made = element("figure", {"class": f"chart {chart.kind}"}, caption, plot)
    if chart.empty:
        made.append(element("p", {"class": "note"}, f"No {chart.unit} with {', '.join(chart.empty)}."))
    if numbers is not None:
        made.append(element("details", None, element("summary", None, "Numbers of this chart"), numbers))
    return made
