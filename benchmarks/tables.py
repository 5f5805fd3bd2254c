"""What a run prints, a line a case, and two runs side by side: the ratios of their ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .case import IDENTITY, Shape

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


def _row(cells: Sequence[str]) -> str:
    first, *others = zip(cells, _COLUMNS.values(), strict=True)
    return " | ".join([f"| {first[0]:{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]) + " |"


_CASE, *_NUMBERS = _COLUMNS.values()
_RULE = "|".join(["|" + "-" * (_CASE + 2), *("-" * (width + 1) + ":" for width in _NUMBERS)]) + "|"
HEADER = f"{_row(list(_COLUMNS))}\n{_RULE}"


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
        _with_quartiles(record["ratio_to_recorded_products"]),
        f"{_rate(record['amount'] / seconds['ours'])} {record['unit']}/s",
        _rate(record["amount"] / seconds["stock"]),
        _with_quartiles(record["speed_over_stock"]),
        _megabytes(memory.get("ours")),
        _megabytes(memory.get("stock")),
    ]
    return _row(cells)


def _with_quartiles(spread: Mapping[str, float]) -> str:
    return f"{spread['median']:.2f} ({spread['low']:.2f}–{spread['high']:.2f})"


def _rate(amount: float) -> str:
    return f"{amount:.0f}" if amount >= 10 else f"{amount:.2f}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.0f}"


#: What is compared, and whether a smaller figure is better.
RATIOS = {"ratio_to_recorded_products": True, "speed_over_stock": False}


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A line for each ratio of each case in both runs, and one for each case that is in only one of them.

    What makes their times those of different machines comes first. A line ends in ``better`` or ``worse`` if the
    quartiles of the two runs do not overlap. Peak memory, which is measured once, is compared without such a mark.
    """
    before, after = ({label(case["case"], case["shape"]): case for case in run["cases"]} for run in (old, new))
    facts = ((name, old["machine"].get(name), new["machine"].get(name)) for name in IDENTITY)
    different = [f"{name}: {one} → {other}" for name, one, other in facts if one != other]
    lines = []
    for name in before.keys() & after.keys():
        lines += _lines_of_a_case(name, before[name], after[name])
    order = [*before, *(name for name in after if name not in before)]
    lines += [f"{name}: only in the old run" for name in before.keys() - after.keys()]
    lines += [f"{name}: only in the new run" for name in after.keys() - before.keys()]
    return different + sorted(lines, key=lambda line: order.index(line.partition(": ")[0]))


def _lines_of_a_case(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = []
    for kind, smaller_is_better in RATIOS.items():
        if kind not in old or kind not in new:
            continue
        before, after = old[kind], new[kind]
        change = after["median"] / before["median"]
        text = f"{name}: {kind.replace('_', ' ')} {before['median']:.2f} → {after['median']:.2f}, times {change:.2f}"
        apart = before["high"] < after["low"] or after["high"] < before["low"]
        verdict = "better" if (change < 1) == smaller_is_better else "worse"
        lines.append(f"{text}, {verdict}" if apart else text)
    sizes = old.get("memory", {}).get("ours"), new.get("memory", {}).get("ours")
    if all(sizes):
        lines.append(
            f"{name}: peak memory {sizes[0] / 1e6:.0f} → {sizes[1] / 1e6:.0f} MB, times {sizes[1] / sizes[0]:.2f}"
        )
    return lines
