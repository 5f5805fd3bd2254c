"""Reports in Markdown: tables, quotations, and what a prepared corpus holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class SideStatistics:
    """One language of one part of a corpus."""

    sentences: int
    tokens: int  # of all lines
    longest: int  # tokens of the longest line
    types: int  # different tokens
    unknown_tokens: int  # tokens that are not in the dictionary, which models see as one unknown word
    unknown_types: int  # different ones among them


def count_side(lines: Iterable[str], dictionary: Collection[str]) -> SideStatistics:
    """Counts tokenized lines; memory grows with the different tokens alone."""
    sentences = longest = 0
    counts = Counter[str]()
    for line in lines:
        words = line.split()
        sentences += 1
        longest = max(longest, len(words))
        counts.update(words)
    unknown = [count for word, count in counts.items() if word not in dictionary]
    return SideStatistics(sentences, counts.total(), longest, len(counts), sum(unknown), len(unknown))


def as_markdown(statistics: dict[tuple[str, str], SideStatistics], vocabularies: dict[str, int]) -> str:
    """A table of statistics by part and language; vocabularies are sizes without fairseq's four symbols."""
    sizes = ", ".join(f"{size:,} tokens of {language}" for language, size in vocabularies.items())
    rows = []
    for (part, language), side in statistics.items():
        mean = side.tokens / side.sentences if side.sentences else 0.0
        rate = side.unknown_tokens / side.tokens if side.tokens else 0.0
        counts = [f"{side.sentences:,}", f"{side.tokens:,}", f"{mean:.1f}", f"{side.longest:,}", f"{side.types:,}"]
        rows.append([part, language, *counts, f"{side.unknown_tokens:,} ({rate:.2%})", f"{side.unknown_types:,}"])
    counted = ("sentences", "tokens", "per sentence", "longest", "different", "unknown", "different unknown")
    return f"""## Prepared text

Dictionaries, made from the training text: {sizes}. Unknown is what they lack.

{table(("part", "language", *counted), rows)}
"""
