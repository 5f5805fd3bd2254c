"""A case timed, and the memory that it takes at its peak, measured in a process of its own."""

from __future__ import annotations

import ctypes
import gc
import logging
import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from recurrent_mt.kernels.dispatch import using

from .case import Family, Setting, Shape
from .families import FAMILIES
from .products import Products, operations, record, replay

#: The fewest and the most rounds of timing, however long one takes.
FEWEST, MOST = 3, 25
_PROCESS = Path("/proc/self")


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
    # The same products as in any other setting.
    recording = replace(setting, device="cpu", dtype="float32")
    with using("packed"):
        run = family.case(recording, **shape).runs["ours"]
        run()  # the first update of a process may try products of its own
        return record(run)


def measure(family: Family, shape: Shape, setting: Setting, *, with_memory: bool) -> dict[str, Any]:
    """The record of a case, as printed and written."""
    case = family.case(setting, **shape)
    products = products_of(family, shape, setting)
    runs = case.runs | {"products": replay(products, setting.device, setting.products)}
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
        figures["memory"] = {name: peak_memory(family.name, shape, name, setting) for name in case.runs}
    return figures


def peak_memory(family: str, shape: Shape, which: str, setting: Setting) -> int:
    """Bytes that the first run takes at its peak, beyond what is held when model and batch are ready.

    It therefore excludes the model's weights but includes gradients and, in a training step, Adam's moments.

    Args:
        family: the case's family.
        shape: the case's shape.
        which: ``ours`` or ``stock``.
        setting: the run's setting.
    """
    spawn = multiprocessing.get_context("spawn")
    # fairseq logs when it is imported.
    with ProcessPoolExecutor(1, spawn, initializer=logging.disable, initargs=(logging.INFO,)) as pool:
        return pool.submit(measure_here, family, shape, which, setting).result()


def measure_here(family: str, shape: Shape, which: str, setting: Setting) -> int:
    """The same in this process, which must not have done anything else."""
    torch.set_num_threads(setting.threads)
    # Libraries load their kernels on first use.
    FAMILIES[family].case(setting, **FAMILIES[family].quick[0]).runs[which]()
    run = FAMILIES[family].case(setting, **shape).runs[which]
    if setting.device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    _return_what_is_free()
    # 5 resets the peak to what is held now: see proc_pid_clear_refs(5).
    (_PROCESS / "clear_refs").write_text("5")
    before = _resident_peak()
    run()
    return _resident_peak() - before


def _return_what_is_free() -> None:
    """Makes the C library return freed memory: the run could use what it keeps without a trace in the peak."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _resident_peak() -> int:
    """The most that this process has held. ``ru_maxrss`` would not do: it is inherited from the starting process."""
    lines = (_PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
