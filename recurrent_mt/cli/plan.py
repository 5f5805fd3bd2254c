"""Prints one thing from an ablation plan, for scripts/ablation.sh, one item per line."""

from __future__ import annotations

import argparse

from ..evaluation.ablation.plan import Plan, read_plan


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("plan", metavar="PLAN.yaml", help="file from configs/ablations/")
    parser.add_argument("what", choices=["recipe", "base", "cells", "flags", "segmentation"])
    parser.add_argument("cell", nargs="?", default="", metavar="CELL", help="cell, for flags and segmentation")


def run(options: argparse.Namespace) -> None:
    """Prints the lines."""
    print(*answer(read_plan(options.plan), options.what, options.cell), sep="\n")


def answer(plan: Plan, what: str, cell: str) -> list[str]:
    """The lines to print.

    Raises:
        ValueError: if there is no such cell.
    """
    if what in ("flags", "segmentation") and cell not in plan.cells:
        raise ValueError(f"{plan.name} has no cell {cell!r}: choose from {', '.join(plan.cells)}")
    match what:
        case "recipe":
            return list(plan.recipe_arguments())
        case "base":
            return [plan.base]
        case "cells":
            return list(plan.cells)
        case "flags":
            return list(plan.train_arguments(cell))
        case _:
            return [plan.segmentation(cell) or ""]
