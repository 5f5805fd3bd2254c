"""Writes the table and the plots of an ablation that has been run, completely or in part."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.ablation import draw_plots, read_results
from ..evaluation.figures import save_figure
from ..evaluation.scores import RESAMPLES
from ..evaluation.tables import tables_as_text
from .arguments import add_jobs_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="+", help="run folder, one per segmentation")
    parser.add_argument("--name", required=True, help="name of the ablation")
    parser.add_argument("--systems", required=True, metavar="NAME,…", help="in the order of the rows")
    parser.add_argument("--baseline", required=True, metavar="NAME", help="system that the others are compared with")
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap resamples; 0: no intervals, no tests"
    )
    add_jobs_argument(parser)
    parser.add_argument("--out", required=True, help="folder for NAME.txt, .md, .json, and NAME-*.svg")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and writes it and the plots to the folder."""
    names = options.systems.split(",")
    if options.baseline not in names:
        options.parser.error(f"--baseline {options.baseline} is none of the systems {options.systems}")
    results = read_results(
        options.name,
        names,
        options.run,
        base=options.baseline,
        resamples=options.resamples,
        jobs=options.jobs,
    )
    out = Path(options.out)
    results.write(out / options.name)
    for name, figure in draw_plots(results):
        save_figure(figure, out / f"{options.name}-{name}.svg")
    print(tables_as_text([results.table()]), end="")
