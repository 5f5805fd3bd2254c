"""Where the time of a case goes: the share of each torch operation, and of the time outside them."""

from __future__ import annotations

import time
from typing import Any

from torch.profiler import ProfilerActivity
from torch.profiler import profile as recorded

from .case import Family, Shape
from .setting import Setting

#: torch's names of matrix products, without the ``_`` of those that work in place.
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv"}

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
    run = family.case(setting, shape).run
    run()
    with recorded(activities=[ProfilerActivity.CPU]) as record:
        start = time.perf_counter()
        for _ in range(RUNS):
            run()
        passed = time.perf_counter() - start
    shares: dict[str, float] = {}
    for event in record.key_averages():
        library, _, operation = event.key.rpartition("::")
        if library in LIBRARIES:
            name = "products" if is_product(event.key) else operation
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
