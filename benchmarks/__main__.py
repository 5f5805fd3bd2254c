"""The command line: ``python -m benchmarks``, and ``python -m benchmarks compare OLD.json NEW.json``."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from recurrent_mt.text_files import write_text

from .case import AUTOCAST, DTYPES, Setting, describe
from .families import FAMILIES
from .measurement import measure
from .tables import HEADER, compare, line

PARTS = ("time", "memory")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures every chosen case, or compares two earlier runs."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["compare"]:
        _compare(arguments[1:])
    else:
        _measure(arguments)


def _compare(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compare", description="Compares the ratios of two runs that wrote JSON."
    )
    parser.add_argument("old", type=Path, metavar="OLD.json")
    parser.add_argument("new", type=Path, metavar="NEW.json")
    options = parser.parse_args(arguments)
    old, new = (json.loads(file.read_text()) for file in (options.old, options.new))
    print("\n".join(compare(old, new)))


def _measure(arguments: Sequence[str]) -> None:
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    setting = Setting(options.device, options.dtype, options.stock_dtype, options.threads, options.seconds)
    result: dict[str, Any] = {"machine": describe(setting), "cases": []}
    print("  ".join(f"{name} {value}" for name, value in result["machine"].items()), flush=True)
    print(f"{setting.kernels} kernels; medians\n\n{HEADER}", flush=True)
    for family in (FAMILIES[name] for name in options.cases):
        for shape in family.quick if options.quick else family.shapes:
            result["cases"].append(measure(family, shape, setting, with_memory="memory" in options.parts))
            print(line(result["cases"][-1]), flush=True)
            if options.json:
                # After each case, because a run is long and may be stopped.
                write_text(options.json, json.dumps(result, indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    about = "\n".join(f"  {family.name:14} {family.about}" for family in FAMILIES.values())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Times each case against the bare matrix products that it cannot do without and against "
        "fairseq's lstm of the same sizes, in turn. docs/guides/benchmarks.md explains the figures.",
        epilog=f"cases:\n{about}\n\npython -m benchmarks compare OLD.json NEW.json compares two runs.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", nargs="+", choices=FAMILIES, default=list(FAMILIES), help="default: all")
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        help="time: leave out peak memory, each of which takes a process of its own (default: both)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    parser.add_argument(
        "--threads", type=int, default=torch.get_num_threads(), help="torch's threads (default: its own)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--dtype",
        choices=(*DTYPES, AUTOCAST),
        default="float32",
        help="of our models and the bare products; autocast: products in bfloat16, the rest float32, like --autocast",
    )
    parser.add_argument("--stock-dtype", choices=DTYPES, default="float32", help="of fairseq's lstm")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="how long to time a case, for at least three rounds (default: 20)"
    )
    parser.add_argument("--quick", action="store_true", help="small shapes, to check that everything runs")
    return parser


def _quieten() -> None:
    """Keeps fairseq's logs and torch's warnings out of the table, here and where memory is measured."""
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore", FutureWarning)
    os.environ.setdefault("PYTHONWARNINGS", "ignore::FutureWarning")


if __name__ == "__main__":
    _quieten()
    main()
