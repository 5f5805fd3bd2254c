"""Work cut into pieces that fit in a processor's cache: the next operation finds there what the last one wrote."""

from __future__ import annotations

from torch import Tensor

NUMBERS = 1 << 17
"""Half a megabyte of float32: together with its operands, it fits in a second-level cache."""


def pieces(rows: int, numbers: int, like: Tensor) -> list[slice]:
    """Slices of rows, in order.

    Args:
        rows: how many there are.
        numbers: how many numbers an operation writes for each row.
        like: a tensor on the device that does the work; work is only cut on a CPU.
    """
    if like.device.type != "cpu":
        return [slice(0, rows)]
    return slices(rows, max(1, NUMBERS // max(1, numbers)))


def slices(rows: int, size: int) -> list[slice]:
    """Yields slices of the rows, ``size`` at a time."""
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
