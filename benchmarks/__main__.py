"""The command line: ``python -m benchmarks [--width N …] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path

import torch

from .grconv_layer import VARIANTS, measure, measure_variants


def main() -> None:
    """Measures, prints a table, and writes JSON where asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--width", type=int, nargs="+", default=[256, 512], help="units of the grConv layer")
    parser.add_argument("--sentences", type=int, default=32, help="in a batch")
    parser.add_argument("--longest", type=int, default=30, help="leaves of the longest sentence")
    parser.add_argument("--rounds", type=int, default=15, help="timed runs of each contestant")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()

    machine = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "dtype": "float32",
    }
    print("  ".join(f"{name} {value}" for name, value in machine.items()))
    print(f"grConv layer, forward and backward, {options.sentences} sentences of 5 to {options.longest} leaves")
    print(f"{'width':>6} {'packed':>10} {'three products':>15} {'ratio':>6} {'reference loop':>15}")
    cases = []
    for width in options.width:
        case = measure(width=width, sentences=options.sentences, longest=options.longest, rounds=options.rounds)
        cases.append({"case": "grconv layer", "width": width, **case})
        print(
            f"{width:6d} {case['packed']:9.4f}s {case['three products']:14.4f}s {case['ratio']:6.2f} "
            f"{case['reference loop']:14.4f}s",
            flush=True,
        )
    print(f"the same with other pyramids, as a ratio to the plain one\n{'width':>6}", *(f"{n:>18}" for n in VARIANTS))
    for width in options.width:
        ratios = measure_variants(
            width=width, sentences=options.sentences, longest=options.longest, rounds=options.rounds
        )
        cases.append({"case": "grconv variants", "width": width, **ratios})
        print(f"{width:6d}", *(f"{ratio:18.2f}" for ratio in ratios.values()), flush=True)
    if options.json:
        partial = options.json.with_name(options.json.name + ".partial")
        partial.write_text(json.dumps({"machine": machine, "cases": cases}, indent=2) + "\n")
        partial.replace(options.json)


if __name__ == "__main__":
    main()
