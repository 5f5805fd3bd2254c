"""Writes the table and the plots of an ablation that scripts/ablation.sh has run, completely or in part."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.ablation.plan import read_plan
from ..evaluation.ablation.plots import draw_plots
from ..evaluation.ablation.results import read_results
from ..evaluation.figures import save_figure
from ..evaluation.scores import RESAMPLES
from ..evaluation.tables import tables_as_text
from .arguments import add_jobs_argument


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("plan", help="YAML file from configs/ablations/")
    parser.add_argument("run", nargs="+", help="run folder, one per segmentation")
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap resamples; 0: no intervals, no tests"
    )
    add_jobs_argument(parser)
    parser.add_argument("--out", required=True, help="folder for PLAN.txt, .md, .json, and PLAN-*.svg")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and writes it and the plots to the folder."""
    plan = read_plan(options.plan)
    results = read_results(plan, options.run, resamples=options.resamples, jobs=options.jobs)
    out = Path(options.out)
    results.write(out / plan.name)
    for name, figure in draw_plots(results):
        save_figure(figure, out / f"{plan.name}-{name}.svg")
    print(tables_as_text([results.table()]), end="")
