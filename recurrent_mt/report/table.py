"""Tables of a report as HTML: names to the left, numbers to the right, the best ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ..evaluation.tables import Cell, Table
from .markup import data_text, element


def table_markup(table: Table, systems: Sequence[str]) -> Element:
    """The table in a box that scrolls by itself, and its notes.

    Args:
        table: what to show.
        systems: rows and columns of these names carry the system's colour.
    """
    head = element("thead", None, element("tr", None, *(header_cell(name, "col", systems) for name in table.header)))
    body = element(
        "tbody",
        None,
        *(
            element("tr", None, header_cell(name, "row", systems), *row_markup(row))
            for name, row in zip(table.names, table.rows, strict=True)
        ),
    )
    box = element(
        "div",
        {"class": "scroll", "role": "region", "tabindex": "0", "aria-label": table.caption},
        element("table", None, element("caption", None, table.caption), head, body),
    )
    notes = " ".join(filter(None, [table.bold_note, *table.notes]))
    note = [element("p", {"class": "note", "dir": "auto"}, notes)] if notes else []
    return element("div", {"class": "table"}, box, *note)


def header_cell(name: str, scope: str, systems: Sequence[str]) -> Element:
    """The head of a row or column."""
    return element("th", {"scope": scope}, system_name(name, systems) if name in systems else data_text(name))


def system_name(name: str, systems: Sequence[str]) -> Element:
    """A system's name beside the mark that stands for it in charts."""
    index = systems.index(name)
    return element("span", {"class": "system"}, swatch(index), data_text(name))


def swatch(index: int) -> Element:
    """A patch of a system's colour; the page's script draws its mark into it."""
    return element("span", {"class": f"swatch series-{index % 7}", "data-system": str(index), "aria-hidden": "true"})


def row_markup(row: Sequence[Cell]) -> list[Element]:
    """The cells of a row; those of a group without sentences are one."""
    filled = [cell for cell in row if cell.text != "no sentences"]
    empty = len(row) - len(filled)
    if empty < 2:
        return list(map(cell_markup, row))
    return [*map(cell_markup, filled), element("td", {"colspan": str(empty), "class": "none"}, "no sentences")]


def cell_markup(cell: Cell) -> Element:
    """One cell."""
    parts: list[Element | str] = [element("strong", None, cell.text) if cell.best else cell.text]
    if cell.star or cell.detail:
        # Of one width with and without a star, so that numbers stay below one another.
        parts.append(element("span", {"class": "star"}, "*" if cell.star else ""))
    if cell.detail or cell.count is not None:
        parts.append(element("small", None, cell.detail, "" if cell.count is None else f" [{cell.count:,}]"))
    return element("td", {"class": "best"} if cell.best else {}, *parts)
