#!/usr/bin/env python3
"""Prints what systems of a run score and what they cost, as tables, and writes them as text, Markdown and JSON.

python scripts/compare_systems.py RUN --models A,B --seeds 1,2 [--baseline A] --out RUN/table
"""

import argparse
import sys

from recurrent_mt.evaluation.command_line import add_jobs_argument
from recurrent_mt.evaluation.comparison import RunSystems, compare_systems
from recurrent_mt.evaluation.scores import RESAMPLES
from recurrent_mt.evaluation.tables import tables_as_text


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="folder of quickstart.sh or compare_baselines.sh")
    parser.add_argument("--models", required=True, help="comma-separated, in the order of the rows")
    parser.add_argument("--seeds", default="1", help="comma-separated")
    parser.add_argument("--baseline", help="that the others are tested against (the first of fairseq's own models)")
    parser.add_argument("--extra-tests", default="", help="names of further test sets, comma-separated")
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help="of the bootstrap; 0: no intervals and tests")
    add_jobs_argument(parser)
    parser.add_argument("--out", required=True, help="writes OUT.txt, OUT.md and OUT.json")
    arguments = parser.parse_args()
    try:
        run = RunSystems(arguments.run, arguments.models.split(","), [int(seed) for seed in arguments.seeds.split(",")])
        comparison = compare_systems(
            run,
            baseline=arguments.baseline,
            extra_tests=arguments.extra_tests.split(",") if arguments.extra_tests else (),
            resamples=arguments.resamples,
            jobs=arguments.jobs,
        )
        comparison.write(arguments.out)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    print(tables_as_text(comparison.tables()), end="")


if __name__ == "__main__":
    main()
