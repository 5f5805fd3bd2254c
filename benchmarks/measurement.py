"""A case checked and timed, how its costs grow, and where its time goes."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from recurrent_mt.kernels.dispatch import using

from .case import Family, Setting, Shape
from .memory import peak_memory
from .products import Products, is_product, operations, record, replay

#: The fewest and the most rounds of timing, however long one takes.
FEWEST, MOST = 3, 25


class Spread(NamedTuple):
    """A median with its quartiles.

    Attributes:
        median: of the figures.
        low: their first quartile.
        high: their third quartile.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """The spread of two figures or more."""
        low, median, high = statistics.quantiles(figures, n=4, method="inclusive")
        return cls(median, low, high)


def time_in_turn(
    runs: Mapping[str, Callable[[], object]], *, seconds: float, device: str = "cpu"
) -> dict[str, list[float]]:
    """The seconds that each took, round by round; in a round each runs once.

    Taking turns exposes all of them to the same drift of the machine, so their ratios hold even if the times do not.
    Each round starts with a different run.

    Args:
        runs: functions without arguments, by name. Each is called once before anything is timed.
        seconds: time to spend, but never on fewer than :data:`FEWEST` rounds or more than :data:`MOST`.
        device: whose queue must be empty before and after each call.
    """
    for function in runs.values():
        function()
    names = list(runs)
    taken: dict[str, list[float]] = {name: [] for name in names}
    start = time.perf_counter()
    for turn in range(MOST):
        if turn >= FEWEST and time.perf_counter() - start > seconds:
            break
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            taken[name].append(_seconds(runs[name], device))
    return taken


def ratios(above: Sequence[float], below: Sequence[float]) -> Spread:
    """The spread of the ratios of two runs' times, round by round."""
    return Spread.of([ours / theirs for ours, theirs in zip(above, below, strict=True)])


def _seconds(function: Callable[[], object], device: str) -> float:
    _synchronize(device)
    start = time.perf_counter()
    function()
    _synchronize(device)
    return time.perf_counter() - start


def _synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def products_of(family: Family, shape: Shape, setting: Setting) -> Products:
    """What a case multiplies, recorded where PyTorch does all of it."""
    with using("packed"):
        run = family.case(setting.recording, **shape).run
        run()  # the first update of a process may try products of its own
        return record(run)


def measure(family: Family, shape: Shape, setting: Setting, *, with_memory: bool) -> dict[str, Any]:
    """The record of a case, as printed and written.

    Raises:
        ParityError: if ours does not agree with the reference kernels; then nothing was timed.
    """
    case = family.case(setting, **shape)
    case.check()
    products = products_of(family, shape, setting)
    runs = case.runs() | {"products": replay(products, setting.device, setting.products)}
    taken = time_in_turn(runs, seconds=setting.seconds, device=setting.device)
    figures: dict[str, Any] = {
        "case": family.name,
        "shape": dict(shape),
        "rounds": len(taken["ours"]),
        "operations": operations(products),
        "seconds": {name: Spread.of(seconds)._asdict() for name, seconds in taken.items()},
        "ratio_to_recorded_products": ratios(taken["ours"], taken["products"])._asdict(),
        "unit": case.unit,
        "amount": case.amount,
    }
    if case.stock is not None:
        figures["speed_over_stock"] = ratios(taken["stock"], taken["ours"])._asdict()
    if with_memory:
        figures["memory"] = {name: peak_memory(family.name, shape, name, setting) for name in case.runs()}
    return figures


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
    base = family.quick_growth if quick else family.growth
    records = []
    for quantity in ("length", "sentences"):
        sizes = [int(base[quantity]) * factor for factor in FACTORS]
        costs: dict[str, list[float]] = {name: [] for name in ("seconds", "operations", *(["bytes"] * with_memory))}
        for size in sizes:
            shape = {**base, quantity: size}
            case = family.case(setting, **shape)
            case.check()
            taken = time_in_turn({"ours": case.run}, seconds=setting.seconds / 4, device=setting.device)["ours"]
            costs["seconds"].append(statistics.median(taken))
            costs["operations"].append(operations(products_of(family, shape, setting)))
            if with_memory:
                costs["bytes"].append(peak_memory(family.name, shape, "ours", setting) or 0)
        fitted = {name: exponent(sizes, values) for name, values in costs.items() if all(value > 0 for value in values)}
        fixed = {name: value for name, value in base.items() if name != quantity}
        records.append(
            {"case": family.name, "quantity": quantity, "shape": fixed, "sizes": sizes, **costs, "exponents": fitted}
        )
    return records


#: Whose operations are counted: torch's and our native ones, which do their products themselves.
LIBRARIES = ("aten", "recurrent_mt")

RUNS = 3


def measure_profile(family: Family, shape: Shape, setting: Setting) -> dict[str, Any]:
    """Our part of a case under torch's profiler, after a warm-up run.

    The profiler takes about a microsecond per operation, which counts as time between operations: if there are many
    small ones, that share is too large.

    Args:
        family: the case's family.
        shape: the case's shape.
        setting: the run's setting, on a CPU: on a GPU, operations continue while Python runs ahead.

    Returns:
        The case, its shape, and shares of the time: ``products`` of torch all together; ``operations``, the others
        by name, largest first, native ones with their products; ``between``, everything that is not an operation:
        Python, autograd's bookkeeping, the profiler.
    """
    run = family.case(setting, **shape).run
    run()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        start = time.perf_counter()
        for _ in range(RUNS):
            run()
        passed = time.perf_counter() - start
    shares: dict[str, float] = {}
    for event in profiler.key_averages():
        library, _, operation = event.key.rpartition("::")
        if library in LIBRARIES:
            name = "products" if library == "aten" and is_product(operation) else operation
            shares[name] = shares.get(name, 0.0) + event.self_cpu_time_total / 1e6 / passed
    products = shares.pop("products", 0.0)
    return {
        "case": family.name,
        "shape": dict(shape),
        "products": products,
        "operations": dict(sorted(shares.items(), key=lambda item: -item[1])),
        "between": max(0.0, 1 - products - sum(shares.values())),
    }
