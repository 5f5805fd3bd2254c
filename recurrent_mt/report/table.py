"""Tables of a report as HTML: names to the left, numbers to the right, the best ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from .markup import data_text, element


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Attributes:
        text: the number, or a word where there is none.
        detail: what follows in smaller type: interval, spread, count.
        star: whether a star follows the text.
        rank: what decides which cell is the best of its row or column; None keeps it out.
        best: whether it is.
        width: columns that it covers.
    """

    text: str
    detail: str = ""
    star: bool = False
    rank: float | None = None
    best: bool = False
    width: int = 1


@dataclass(frozen=True)
class Table:
    """Rows of numbers.

    Attributes:
        caption: what the table shows.
        header: names of the columns, that of the rows first.
        names: of the rows.
        rows: cells of each row, without its name.
        notes: what has to be known to read it.
    """

    caption: str
    header: Sequence[str]
    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()


def mark_best(cells: Sequence[Cell], *, lower_is_better: bool = False) -> list[Cell]:
    """Marks the best of some cells, all that are equal to it as printed; none where there is nothing to choose."""
    ranks = [cell.rank for cell in cells if cell.rank is not None]
    if len(set(ranks)) < 2:
        return list(cells)
    best = min(ranks) if lower_is_better else max(ranks)
    return [replace(cell, best=cell.rank == best) for cell in cells]


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
            element("tr", None, header_cell(name, "row", systems), *map(cell_markup, row))
            for name, row in zip(table.names, table.rows, strict=True)
        ),
    )
    box = element(
        "div",
        {"class": "scroll", "role": "region", "tabindex": "0", "aria-label": table.caption},
        element("table", None, element("caption", None, table.caption), head, body),
    )
    note = [element("p", {"class": "note", "dir": "auto"}, " ".join(table.notes))] if table.notes else []
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


def cell_markup(cell: Cell) -> Element:
    """One cell."""
    parts: list[Element | str] = [element("strong", None, cell.text) if cell.best else cell.text]
    if cell.star or cell.detail:
        # Of one width with and without a star, so that numbers stay below one another.
        parts.append(element("span", {"class": "star"}, "*" if cell.star else ""))
    if cell.detail:
        parts.append(element("small", None, cell.detail))
    attributes = {"class": "best"} if cell.best else {}
    if cell.width > 1:
        attributes |= {"colspan": str(cell.width), "class": "none"}
    return element("td", attributes, *parts)
