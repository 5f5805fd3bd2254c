"""Writes the table and the plots of an ablation that scripts/ablation.sh has run, completely or in part."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.ablation.cells import read_results
from ..evaluation.ablation.plan import read_plan
from ..evaluation.ablation.plots import figures
from ..evaluation.ablation.table import ablation_table, results_as_json
from ..evaluation.bucket_scores import RESAMPLES
from ..evaluation.command_line import add_jobs_argument
from ..evaluation.evaluation_tables import as_markdown, as_text
from ..evaluation.output_files import save_figure, write_text


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
    tables, out = [ablation_table(results)], Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / f"{plan.name}.json", results_as_json(results))
    write_text(out / f"{plan.name}.md", as_markdown(tables))
    write_text(out / f"{plan.name}.txt", as_text(tables))
    for name, figure in figures(results):
        save_figure(figure, out / f"{plan.name}-{name}.svg")
    print(as_text(tables), end="")
