"""Where the time of a case goes: the share of each of torch's operations, and of what is none of them."""

from __future__ import annotations

import time
from typing import Any

from torch.profiler import ProfilerActivity
from torch.profiler import profile as recorded

from .contest import Family, Shape
from .setting import Setting

#: torch's names of products of matrices, without the ``_`` of those that add to what is there.
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv"}

RUNS = 3


def measure_profile(family: Family, shape: Shape, setting: Setting) -> dict[str, Any]:
    """Our part of a case under torch's profiler, after a run that warms it up.

    The profiler takes a microsecond or so for each operation, which counts as time between operations: where these
    are many and small, that share is too large.

    Args:
        family: of the case.
        shape: of the case.
        setting: of the run, on a CPU: on a GPU operations go on while Python runs ahead.

    Returns:
        The case, its shape, and shares of the time: ``products`` all together; ``operations``, the others by
        name, largest first; ``between``, what is no operation: Python, autograd's bookkeeping, the profiler.
    """
    run = family.contest(setting, shape).run
    run()
    with recorded(activities=[ProfilerActivity.CPU]) as record:
        start = time.perf_counter()
        for _ in range(RUNS):
            run()
        passed = time.perf_counter() - start
    shares: dict[str, float] = {}
    for event in record.key_averages():
        if event.key.startswith("aten::"):
            name = "products" if is_product(event.key) else event.key.removeprefix("aten::")
            shares[name] = shares.get(name, 0.0) + event.self_cpu_time_total / 1e6 / passed
    products = shares.pop("products", 0.0)
    return {
        "case": family.name,
        "shape": dict(shape),
        "products": products,
        "operations": dict(sorted(shares.items(), key=lambda item: -item[1])),
        "between": max(0.0, 1 - products - sum(shares.values())),
    }


def is_product(operation: str) -> bool:
    """Whether an operation multiplies matrices, by its name."""
    return operation.removeprefix("aten::").removesuffix("_") in PRODUCTS
