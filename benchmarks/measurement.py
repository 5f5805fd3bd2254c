"""A case timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from recurrent_mt.kernels.dispatch import using

from .case import Family, Setting, Shape
from .memory import peak_memory
from .products import Products, operations, record, replay

#: The fewest and the most rounds of timing, however long one takes.
FEWEST, MOST = 3, 25


class Spread(NamedTuple):
    """A median with its quartiles."""

    median: float  # of the figures
    low: float  # their first quartile
    high: float  # their third quartile

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
    """The record of a case, as printed and written."""
    case = family.case(setting, **shape)
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
        "speed_over_stock": ratios(taken["stock"], taken["ours"])._asdict(),
    }
    if with_memory:
        figures["memory"] = {name: peak_memory(family.name, shape, name, setting) for name in case.runs()}
    return figures
