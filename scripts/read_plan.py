#!/usr/bin/env python3
"""Prints one thing that an ablation's plan says, for scripts/ablation.sh, one item a line.

python scripts/read_plan.py PLAN.yaml recipe | base | cells | flags CELL | segmentation CELL
"""

from __future__ import annotations

import sys

from recurrent_mt.evaluation.ablation.plan import Plan, read_plan


def main() -> None:
    """Command line."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        plan = read_plan(sys.argv[1])
        print(*answer(plan, *sys.argv[2:]), sep="\n")
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


def answer(plan: Plan, what: str, cell: str = "") -> list[str]:
    """The lines to print.

    Raises:
        ValueError: if the question or the cell is unknown.
    """
    if what in ("flags", "segmentation") and cell not in plan.cells:
        raise ValueError(f"{plan.name} has no cell {cell!r}: choose of {', '.join(plan.cells)}")
    match what:
        case "recipe":
            return list(plan.recipe_arguments())
        case "base":
            return [plan.base]
        case "cells":
            return list(plan.cells)
        case "flags":
            return list(plan.train_arguments(cell))
        case "segmentation":
            return [plan.segmentation(cell) or ""]
    raise ValueError(f"{what!r} is none of recipe, base, cells, flags and segmentation")


if __name__ == "__main__":
    main()
