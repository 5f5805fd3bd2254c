"""Prints tables of what a run's systems score and what they cost, and writes them as text, Markdown, and JSON.

recurrent-mt compare RUN --models A,B --seeds 1,2 --baseline A --out RUN/table
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..evaluation.comparison import RunSystems, compare_systems
from ..evaluation.tables import tables_as_text
from .arguments import add_jobs_argument
from .inputs import add_resamples_argument


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="folder made by quickstart.sh or compare_baselines.sh")
    parser.add_argument("--models", required=True, help="comma-separated, in the order of the rows")
    parser.add_argument("--seeds", default="1", help="comma-separated")
    parser.add_argument("--baseline", help="the system the others are tested against (the first fairseq model)")
    parser.add_argument(
        "--extra-tests",
        default="",
        metavar="NAME=ID,…",
        help="further test sets: RUN/extra/NAME is what the translations extra-ID of each system are scored against",
    )
    add_resamples_argument(parser)
    add_jobs_argument(parser)
    parser.add_argument("--out", required=True, help="writes OUT.txt, OUT.md, and OUT.json")


def read_test_names(text: str) -> Iterator[tuple[str, str]]:
    """Name and id of each test set; without an id, translations are found by the name."""
    for part in filter(None, text.split(",")):
        name, _, identity = part.partition("=")
        yield name, identity or name


def run(options: argparse.Namespace) -> None:
    """Prints the tables and writes them."""
    systems = RunSystems(options.run, options.models.split(","), [int(seed) for seed in options.seeds.split(",")])
    comparison = compare_systems(
        systems,
        baseline=options.baseline,
        extra_tests=dict(read_test_names(options.extra_tests)),
        resamples=options.resamples,
        jobs=options.jobs,
    )
    comparison.write(options.out)
    print(tables_as_text(comparison.tables()), end="")
