"""Runs an experiment: from text to words, data, trainings, translations, tables, and a report.

An experiment is a file of configs/experiments; KEY=VALUE changes one of its options, which are listed below, with
their defaults in parentheses. Rerun the same command to resume; changing an option starts a new training and keeps
earlier results. A failing system does not stop the others; failures are listed at the end.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

from pydantic_core import PydanticUndefined

from ..arguments import positive
from ..runs.corpora import check_files, fill_name, list_published
from ..runs.experiment import PROJECT, Experiment, read_experiment
from ..runs.folder import REPORT, find_systems
from ..runs.launcher import Launch, launch
from ..runs.plan import Plan, make_plan
from ..runs.view import run_folders

OPTIONS_ANYWHERE = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.yaml", help="file from configs/experiments/")
    parser.add_argument("options", nargs="*", default=[], metavar="KEY=VALUE", help="override an option of the file")
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="train N systems at a time (1), each with its share of the processors; measured speeds and time budgets "
        "then reflect a loaded machine; on a cluster, N jobs at a time (its profile says how many)",
    )
    parser.add_argument("--retry", action="store_true", help="try again what has failed")
    parser.add_argument(
        "--profile", metavar="NAME", help="folder of workflow/profiles, such as slurm: run on a cluster"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the commands without running them")
    parser.add_argument_group("KEYs", description=describe_options())


def describe_options() -> str:
    """Every option with what it does and its default, for people."""
    lines: list[str] = []
    for title, options in option_groups():
        lines += ["", title]
        for key, text in options:
            lines += wrap(text, width=100, initial_indent=f"{key:<17}", subsequent_indent=" " * 17)
    return "\n".join(lines)


def option_groups() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yields the title of each group of options, and its options: the name, and what it does with its default."""
    for group in reversed(Experiment.__mro__):
        options = []
        for key in (key for key in getattr(group, "model_fields", ()) if key in group.__annotations__):
            field = Experiment.model_fields[key]
            default = shown_default(field.default)
            options.append((key, f"{field.description}{f' ({default})' if default else ''}"))
        if options:
            yield str(group.__doc__), options


def shown_default(value: Any) -> str:
    """A default as it would be given; nothing if there is none."""
    if value in (None, PydanticUndefined, {}):
        return ""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def run(options: argparse.Namespace) -> None:
    """Runs what is left of the experiment to do, and prints where its results are."""
    experiment = read_experiment(options.file, options.options)
    out = PROJECT / fill_name(experiment.out or f"runs/{options.file.stem}-{{pair}}", experiment)
    if any(word.startswith("out=") for word in options.options):
        if experiment.out is None:
            raise ValueError("out is empty: name a folder, or leave it out for the default one")
        out = Path(experiment.out)
    plan = make_plan(options.file.stem, experiment)
    if experiment.published:
        print(
            f"\n== The plan: {experiment.pair}, {experiment.segmentation}, to {out}",
            *list_published(experiment),
            sep="\n",
        )
    for note in check_files(experiment):
        print(note)
    for corpus in plan.corpora.values():
        if plan.systems and (others := ", ".join(corpus.tests[1:])):
            print(f"Of the test sets, the first is translated and scored, and {others} only prepared.")
    settings = Launch(out, options.jobs, options.dry_run, options.retry, options.profile)
    failed = launch(plan, settings, say=lambda text: print(text, flush=True))
    if not options.dry_run:
        report(plan, out)
    if failed:
        raise RuntimeError(f"failed: {failed}")


def report(plan: Plan, out: Path) -> None:
    """Prints the tables, and where the results are."""
    tables = out / f"{plan.tables}.txt"
    if plan.systems and tables.is_file():
        # The links in the run folder are to the results of its last experiment.
        print(f"\n{tables.read_text(encoding='utf-8')}\nTables: {tables}, and .md and .json beside it;", end=" ")
        print(f"they stay in {out / plan.results}.")
        places = sorted({f"{out / Path(place).relative_to(plan.results)}" for place in run_folders(plan).values()})
        print(f"Logs, checkpoints, and translations: {', '.join(f'{place}/systems' for place in places)}.")
    if (out / REPORT).is_file():
        print(f"The report: {out / REPORT}. Open it in a browser.")
    if find_systems(out):
        line = shlex.join([str(Path(sys.executable).parent / "recurrent-mt"), "demo", str(out)])
        print(f"See the models translate: {line}")
        print("  (bash scripts/setup.sh --demo installs what that page needs)")
    if plan.systems or not (out / "data" / "REPORT.md").is_file():
        return
    source, target = plan.experiment.languages
    for corpus in plan.corpora.values():
        data = ":".join(f"{out}/{Path(folder).relative_to(corpus.folder)}" for folder in corpus.data_folders)
        train = ["fairseq-train", data, "--source-lang", source, "--target-lang", target]
        system = [f"{PROJECT}/scripts/train.sh", f"{PROJECT}/configs/rnnsearch-50.yaml"]
        print(f"\nThe data is in {out}/data; {out}/data/REPORT.md says what happened to the text. Train with")
        print(f"  {shlex.join([*train, '--user-dir', f'{PROJECT}/user_dir'])} ...\nor")
        print(f"  {shlex.join(['bash', *system, f'task.data={data}', f'pair={source}-{target}'])}")
