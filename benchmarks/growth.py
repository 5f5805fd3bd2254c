"""How time, memory, and operations grow with the length and the number of sentences."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from .case import Family
from .memory import peak_memory
from .products import operations
from .setting import Setting
from .timing import time_in_turn

#: What the quantity is multiplied by, starting from the family's ``growth`` shape.
FACTORS = (1, 2, 4)


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The power of the size that best fits the costs: the slope of the least-squares line through the logarithms."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(cost) for cost in costs]).slope


def measure_growth(family: Family, setting: Setting, *, quick: bool, with_memory: bool) -> list[dict[str, Any]]:
    """A record for length and one for the number of sentences, each with its costs and their exponents.

    Raises:
        ParityError: if ours does not agree with the reference kernels.
    """
    base = family.small_growth if quick else family.growth
    records = []
    for quantity in ("length", "sentences"):
        sizes = [int(base[quantity]) * factor for factor in FACTORS]
        costs: dict[str, list[float]] = {name: [] for name in ("seconds", "operations", *(["bytes"] * with_memory))}
        for size in sizes:
            shape = {**base, quantity: size}
            case = family.case(setting, shape)
            case.check()
            taken = time_in_turn({"ours": case.run}, seconds=setting.seconds / 4, device=setting.device)["ours"]
            costs["seconds"].append(statistics.median(taken))
            costs["operations"].append(operations(case.products))
            if with_memory:
                costs["bytes"].append(peak_memory(family.name, shape, "ours", setting) or 0)
        fitted = {name: exponent(sizes, values) for name, values in costs.items() if all(value > 0 for value in values)}
        fixed = {name: value for name, value in base.items() if name != quantity}
        records.append(
            {"case": family.name, "quantity": quantity, "shape": fixed, "sizes": sizes, **costs, "exponents": fitted}
        )
    return records
