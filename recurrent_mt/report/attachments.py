"""What other commands drew and counted, for the page to show beside its own numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from ..evaluation.alignment_figures import ATTENTION
from ..evaluation.tables import Table
from ..pages import write_address
from ..text_files import FileError

#: Points: a drawing of less can shrink to a phone's width, one of more gets a row of its own.
NARROW, WIDE = 360, 480
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
    def size(self) -> str:
        """How much room it needs: ``narrow`` fits a phone, ``wide`` needs a row of its own."""
        width = re.search(r'<svg[^>]*\bwidth="(\d+(?:\.\d+)?)pt"', self.svg)
        points = float(width[1]) if width else NARROW
        return "narrow" if points < NARROW else "wide" if points > WIDE else ""

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
    """Numbers of another command as tables; section as of a `Figure`."""

    section: str
    tables: Sequence[Table]


Attachment = Figure | Printout | Results


def read_attachment(section: str, title: str, path: Path, system: str = "") -> Attachment:
    """A file to show.

    A text file of the commands that align, read trees off gates or compare beams has a JSON file beside it, from which
    its tables are made. Any other text file is shown as it is, and every other file must be a drawing.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no text, or the JSON file beside it is damaged; names the file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: a figure must be an SVG file or a text file") from error
    if path.suffix != ".txt":
        return Figure(section, name_figure(title, path), text, system)
    numbers = find_numbers(path)
    tables = [name_table(title, table) for table in read_tables(numbers)] if numbers else []
    return Results(section, tables) if tables else Printout(section, title, text)


def find_numbers(path: Path) -> Path | None:
    """The JSON file beside a text file; None without one."""
    numbers = path.with_suffix(".json") if path.suffix == ".txt" else None
    return numbers if numbers and numbers.is_file() else None


def read_tables(path: Path) -> list[Table]:
    """The tables in a JSON file that `tables.write_results` wrote; none of JSON that is something else.

    Raises:
        FileError: if the file is damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        tables = TABLES.validate_python(content.get("tables", []) if isinstance(content, dict) else [])
        for table in tables:
            if len(table.names) != len(table.rows) or any(len(row) + 1 != len(table.header) for row in table.rows):
                raise ValueError(f"a row of {table.caption!r} has no name, or not a cell below each header")
    except (ValueError, RecursionError) as error:
        why = "; ".join(str(error).splitlines()[:3])
        raise FileError(path, f"its tables are damaged: make it anew with the tool that wrote it ({why})") from error
    return tables


def name_figure(title: str, path: Path) -> str:
    """A title that tells the figures of one system apart; files count sentences from 0, the page from 1."""
    match = SENTENCE.fullmatch(path.stem)
    if not match or title == path.stem:
        return title
    what = ", output" if match[1] == "output" else ""
    return f"{title}, sentence {int(match[2]) + 1}{what}"


def name_table(title: str, table: Table) -> Table:
    """The table under the attachment's title, which is the name of the system whose attention it is about."""
    if list(table.names) == [ATTENTION]:
        return replace(table, names=[title])
    return replace(table, caption=f"{title}, {begin_small(table.caption)}" if table.caption else title)


def begin_small(text: str) -> str:
    """The text to go on with after a comma: BLEU, METEOR, and F-measure stay what they are."""
    rest = text.partition(" ")[0][1:]
    return f"{text[:1].lower()}{text[1:]}" if rest[:1].islower() and rest == rest.lower() else text


def join_tables(tables: Sequence[Table]) -> list[Table]:
    """The tables, those of one caption and header as one with the rows of all, if they were made alike."""
    joined: dict[tuple[tuple[str, ...], ...], Table] = {}
    for table in tables:
        key = ((table.caption, *table.header), tuple(table.signatures), tuple(table.notes))
        if key in joined:
            names, rows = [*joined[key].names, *table.names], [*joined[key].rows, *table.rows]
            joined[key] = replace(joined[key], names=names, rows=rows)
        else:
            joined[key] = table
    return list(joined.values())
