"""Tables and quotations of reports."""

from __future__ import annotations

from collections.abc import Sequence

# Quotations are cut there: a line may have no end.
_WIDTH = 200


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


def quoted(text: str) -> str:
    """Text that Markdown shows as it is."""
    if not text:
        return "(nothing)"
    text = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
    return f"`` {text} ``" if "`" in text else f"`{text}`"
