"""What other commands drew and counted, for the page to show beside its own numbers."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from ..evaluation.alignment_figures import ATTENTION
from ..evaluation.tables import Table
from ..text_files import FileError

TABLES = TypeAdapter(list[Table])
#: Name of a figure of one sentence.
SENTENCE = re.compile(r"(sentence|output)-(\d+)")


@dataclass(frozen=True)
class Figure:
    """A drawing that another command has made."""

    section: str  # heading of the section that it belongs to, for example ``Alignments``
    title: str  # what the figure shows, one line
    svg: str  # the text of an SVG file
    system: str = ""  # whose it is, if it is one system's

    @property
    def address(self) -> str:
        """The drawing for an ``img``: a document apart, which runs no script and loads nothing."""
        return write_address("image/svg+xml", self.svg)


@dataclass(frozen=True)
class Printout:
    """Lines that another program printed, shown as they are; section and title as of a `Figure`."""

    section: str
    title: str
    text: str


@dataclass(frozen=True)
class Results:
    """Tables of another command; section as of a `Figure`."""

    section: str
    tables: Sequence[Table]


Attachment = Figure | Printout | Results


def read_attachment(section: str, title: str, path: Path) -> Attachment:
    """A file to show: a text file, or the tables in the JSON file beside it; every other file must be a drawing.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no text, or the JSON file beside it is damaged; names the file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: a figure must be an SVG file or a text file") from error
    if path.suffix != ".txt":
        return Figure(section, name_figure(title, path), text, system=title)
    numbers = path.with_suffix(".json")
    if not numbers.is_file():
        return Printout(section, title, text)
    try:
        tables = TABLES.validate_python(json.loads(numbers.read_text(encoding="utf-8"))["tables"])
    except (LookupError, TypeError, ValueError) as error:
        raise FileError(numbers, f"it has no tables of the tool that wrote {path.name}: {error}") from error
    return Results(section, [name_table(title, table) for table in tables])


def name_table(title: str, table: Table) -> Table:
    """The table under the attachment's title, which is the name of the system whose attention it is about."""
    if list(table.names) == [ATTENTION]:
        return replace(table, names=[title])
    return replace(table, caption=f"{title}: {table.caption}" if table.caption else title)


def join_tables(tables: Sequence[Table]) -> list[Table]:
    """The tables, those of one caption and header as one with the rows of all, if they were made alike."""
    joined: dict[tuple[tuple[str, ...], ...], Table] = {}
    for table in tables:
        key = ((table.caption, *table.header), tuple(table.signatures), tuple(table.notes))
        if key in joined:
            names, rows = [*joined[key].names, *table.names], [*joined[key].rows, *table.rows]
            table = replace(table, names=names, rows=rows)
        joined[key] = table
    return list(joined.values())


def name_figure(title: str, path: Path) -> str:
    """A title that tells the figures of one system apart; files count sentences from 0, the page from 1."""
    match = SENTENCE.fullmatch(path.stem)
    if not match or title == path.stem:
        return title
    what = ", output" if match[1] == "output" else ""
    return f"{title}, sentence {int(match[2]) + 1}{what}"


def write_address(kind: str, text: str) -> str:
    """Text as the address of a document of this media type, which a page carries."""
    return f"data:{kind};base64,{base64.b64encode(text.encode('utf-8')).decode('ascii')}"
