"""What a run prints: a Markdown table with one line per case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .case import Shape

_COLUMNS = {
    "case": 73,
    "ours, s": 8,
    "products, s": 11,
    "GFLOP/s": 7,
    "ratio (quartiles)": 17,
    "speed": 16,
    "stock": 5,
    "times stock (quartiles)": 23,
    "peak, MB": 8,
    "stock's": 7,
}
_PROFILE_COLUMNS = {"case": 73, "products": 8, "between operations": 18, "largest of the others": 60}
_GROWTH_COLUMNS = {"case": 13, "grows with": 24, "time": 5, "memory": 6, "operations": 10}


def _row(columns: Mapping[str, int], cells: Sequence[str]) -> str:
    first, *others = zip(cells, columns.values(), strict=True)
    return " | ".join([f"| {first[0]:{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]) + " |"


def _header(columns: Mapping[str, int]) -> str:
    first, *others = columns.values()
    rule = "|".join(["|" + "-" * (first + 2), *("-" * (width + 1) + ":" for width in others)]) + "|"
    return f"{_row(columns, list(columns))}\n{rule}"


HEADER, GROWTH_HEADER, PROFILE_HEADER = map(_header, (_COLUMNS, _GROWTH_COLUMNS, _PROFILE_COLUMNS))


def label(case: str, shape: Shape) -> str:
    """A case in words: its family and what identifies it."""
    parts = (f"{name} {value}" if isinstance(value, int) else value for name, value in shape.items())
    return ", ".join([case, *parts])


def line(record: Mapping[str, Any]) -> str:
    """A case's figures: seconds, speeds, ratios with their quartiles, peak megabytes."""
    seconds = {name: spread["median"] for name, spread in record["seconds"].items()}
    memory = record.get("memory", {})
    cells = [
        label(record["case"], record["shape"]),
        f"{seconds['ours']:.4f}",
        f"{seconds['products']:.4f}",
        f"{record['operations'] / seconds['products'] / 1e9:.1f}",
        _with_quartiles(record["ratio_to_products"]),
        f"{_rate(record['amount'] / seconds['ours'])} {record['unit']}/s",
        _rate(record["amount"] / seconds["stock"]) if "stock" in seconds else "",
        _with_quartiles(record.get("speed_over_stock")),
        _megabytes(memory.get("ours")),
        _megabytes(memory.get("stock")),
    ]
    return _row(_COLUMNS, cells)


def growth_line(record: Mapping[str, Any]) -> str:
    """Formats the exponents with which one quantity grows."""
    fitted = record["exponents"]
    exponents = (f"{fitted[name]:.2f}" if name in fitted else "" for name in ("seconds", "bytes", "operations"))
    sizes = f"{record['quantity']} {', '.join(map(str, record['sizes']))}"
    return _row(_GROWTH_COLUMNS, [record["case"], sizes, *exponents])


def profile_line(record: Mapping[str, Any]) -> str:
    """The shares of a case's time: products, time between operations, and the largest of the other operations."""
    largest = list(record["operations"].items())[:5]
    others = ", ".join(f"{name} {share:.0%}" for name, share in largest)
    return _row(
        _PROFILE_COLUMNS,
        [label(record["case"], record["shape"]), f"{record['products']:.0%}", f"{record['between']:.0%}", others],
    )


def _with_quartiles(spread: Mapping[str, float] | None) -> str:
    return "" if spread is None else f"{spread['median']:.2f} ({spread['low']:.2f}–{spread['high']:.2f})"


def _rate(amount: float) -> str:
    return f"{amount:.0f}" if amount >= 10 else f"{amount:.2f}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.0f}"
