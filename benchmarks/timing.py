"""Timing on a machine that is not quiet: the contestants in turn, medians, ratios within the run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch


def median_seconds(contestants: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """The median time of each, over rounds in which each runs once.

    Running them in turn exposes all to the same drift of the machine, so their ratios hold where times do not.

    Args:
        contestants: functions without arguments, by name. Each is called once before anything is timed.
        rounds: how often each is timed.
    """
    for function in contestants.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, function in contestants.items():
            _synchronize()
            start = time.perf_counter()
            function()
            _synchronize()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
