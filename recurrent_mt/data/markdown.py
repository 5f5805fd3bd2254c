"""Formats tables and quotations of reports as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Quotations are cut there: a line may have no end.
_WIDTH = 200


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Formats rows as a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


def quote_pair(heading: str, source: str, target: str) -> str:
    """A list item with both texts below its heading, which Markdown shows as they are."""
    return f"- {heading}\n  - {_quoted(source)}\n  - {_quoted(target)}"


def _quoted(text: str) -> str:
    if not text:
        return "(nothing)"
    text = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
    runs = re.findall("`+", text)
    if not runs:
        return f"`{text}`"
    fence = "`" * (1 + max(map(len, runs)))
    return f"{fence} {text} {fence}"
