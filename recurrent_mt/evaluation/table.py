"""Tables as text and Markdown: names to the left, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table for a terminal.

    Args:
        rows: the header first, each as long as the header.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table for a README; ``rows`` as for `text_table`."""
    header, *body = rows
    alignment = ["---"] + ["---:"] * (len(header) - 1)
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in [header, alignment, *body]]


def format_number(number: float | None, form: str) -> str:
    """The number, or a dash where it is not known."""
    return "–" if number is None else format(number, form)
