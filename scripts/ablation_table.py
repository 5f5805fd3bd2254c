#!/usr/bin/env python3
"""Writes the table and the plots of an ablation that scripts/ablation.sh has run, whole or in part.

python scripts/ablation_table.py PLAN.yaml RUN [RUN...] --out DIR
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.ablation.plan import read_plan
from recurrent_mt.evaluation.ablation.plots import draw_plots
from recurrent_mt.evaluation.ablation.results import read_results
from recurrent_mt.evaluation.command_line import add_jobs_argument
from recurrent_mt.evaluation.figures import save_figure
from recurrent_mt.evaluation.scores import RESAMPLES
from recurrent_mt.evaluation.tables import tables_as_text


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="YAML file of configs/ablations/")
    parser.add_argument("run", nargs="+", help="run folder, one for each segmentation")
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help="of the bootstrap; 0: no intervals and tests")
    add_jobs_argument(parser)
    parser.add_argument("--out", required=True, help="folder for PLAN.txt, .md, .json and PLAN-*.svg")
    arguments = parser.parse_args()
    try:
        plan = read_plan(arguments.plan)
        results = read_results(plan, arguments.run, resamples=arguments.resamples, jobs=arguments.jobs)
        out = Path(arguments.out)
        results.write(out / plan.name)
        for name, figure in draw_plots(results):
            save_figure(figure, out / f"{plan.name}-{name}.svg")
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    print(tables_as_text([results.table()]), end="")


if __name__ == "__main__":
    main()
