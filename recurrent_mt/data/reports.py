"""Parts of reports in Markdown: tables, quotations, and what a text holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

# Quotations are cut there: a line may have no end.
_WIDTH = 200


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
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


#: What `count_side` counts.
COUNTED = ("sentences", "tokens", "per sentence", "longest", "different", "unknown", "different unknown")


def count_side(lines: Iterable[str], dictionary: Collection[str]) -> list[str]:
    """Cells of a table about tokenized lines; memory grows with the different tokens alone."""
    sentences = longest = 0
    counts = Counter[str]()
    for line in lines:
        words = line.split()
        sentences += 1
        longest = max(longest, len(words))
        counts.update(words)
    tokens = counts.total()
    unknown = [count for word, count in counts.items() if word not in dictionary]
    mean, rate = tokens / max(sentences, 1), sum(unknown) / max(tokens, 1)
    cells = [f"{sentences:,}", f"{tokens:,}", f"{mean:.1f}", f"{longest:,}", f"{len(counts):,}"]
    return [*cells, f"{sum(unknown):,} ({rate:.2%})", f"{len(unknown):,}"]
