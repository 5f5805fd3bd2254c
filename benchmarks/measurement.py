"""One case: checked, timed, its memory measured."""

from __future__ import annotations

from typing import Any

from .case import Family, Shape
from .memory import peak_memory
from .products import operations, runner
from .setting import Setting
from .timing import Spread, ratios, time_in_turn


def measure(family: Family, shape: Shape, setting: Setting, *, with_memory: bool) -> dict[str, Any]:
    """The record of a case, as printed and written.

    Raises:
        ParityError: if ours does not agree with the reference kernels; then nothing was timed.
    """
    case = family.case(setting, shape)
    case.check()
    runs = case.runs() | {"products": runner(case.products, setting)}
    taken = time_in_turn(runs, seconds=setting.seconds, device=setting.device)
    record: dict[str, Any] = {
        "case": family.name,
        "shape": dict(shape),
        "rounds": len(taken["ours"]),
        "operations": operations(case.products),
        "seconds": {name: Spread.of(seconds)._asdict() for name, seconds in taken.items()},
        "ratio_to_products": ratios(taken["ours"], taken["products"])._asdict(),
        "unit": case.unit,
        "amount": case.amount,
    }
    if case.stock is not None:
        record["speed_over_stock"] = ratios(taken["stock"], taken["ours"])._asdict()
    if with_memory:
        record["memory"] = {name: peak_memory(family.name, shape, name, setting) for name in case.runs()}
    return record
