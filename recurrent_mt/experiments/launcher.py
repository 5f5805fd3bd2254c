"""Runs the plan of an experiment through Snakemake, and says what becomes of it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import yaml

from ..evaluation.outcomes import Outcome, Status, read_outcome
from ..ordered_map import processors
from .engine import PATIENCE, WORKFLOW, environment, find_home, find_workers, list_locks, read_last_log, run_engine
from .plan import lay_out_results, show_results
from .slurm import cancel_jobs, status_options
from .steps import search_folder, training_outcomes

#: The name of all jobs of a call on a cluster, in Snakemake's log.
CLUSTER_RUN = r"SLURM run ID: (\S+)"


@dataclass(frozen=True)
class Launch:
    """How an experiment is run: nothing of it decides what comes out.

    Attributes:
        out: the run folder.
        jobs: trainings at a time, each with its share of the processors.
        dry_run: whether only the commands are printed.
        retry: whether what has failed before is tried again.
        profile: a folder of workflow/profiles, or a path of one; None for this machine.
    """

    out: Path
    jobs: int = 1
    dry_run: bool = False
    retry: bool = False
    profile: str | None = None


class StoppedError(RuntimeError):
    """Raised when a signal has stopped the run."""


def launch(plan: Mapping[str, Any], settings: Launch, say: Callable[[str], None] = print) -> str:
    """Runs everything that is left to do.

    Args:
        plan: of the experiment.
        settings: how to run it.
        say: takes a line for people.

    Returns:
        What failed, and what to do about it; empty if nothing did.

    Raises:
        ValueError: if the folder holds something else.
        RuntimeError: if another call works in the folder, if the engine cannot run, or if it was stopped.
    """
    out = settings.out
    again = [
        *find_failed(plan, out, trainings=False),
        *(find_failed(plan, out, trainings=True) if settings.retry else ()),
    ]
    names = [str(file.relative_to(out)) for file in again]
    if settings.dry_run:
        with TemporaryDirectory() as elsewhere:
            # Snakemake would make a folder that does not exist.
            folder, place = out if out.is_dir() else Path(elsewhere), Path(elsewhere)
            status = run_workflow(plan, settings, folder, place, again=names)
        return f"Snakemake ended with status {status}, see above" if status else ""
    if out.is_dir() and any(out.iterdir()) and not (out / "results").is_dir():
        raise ValueError(f"{out} is not empty, and no run folder of this project: choose another with out=DIR")
    out.mkdir(parents=True, exist_ok=True)
    take_over(out, say)
    lay_out_results(plan, out)
    for file in again:
        file.unlink()
    for name, title in training_outcomes(plan).items():
        if (outcome := read_outcome(out / name)) and outcome.failed:
            say(f"Failed before: {title}: {outcome.reason} (--retry to try again)")
    # Snakemake makes no missing file again that only older results were made of, unless it is told to.
    status = run_workflow(plan, settings, out, out / plan["results"], again=names)
    show_results(plan, out)
    return describe_failures(plan, out, status, say)


def find_failed(plan: Mapping[str, Any], out: Path, *, trainings: bool) -> dict[Path, Outcome]:
    """The outcomes of what has failed: of trainings, searches included, or of all else."""
    files = [out / name for name in training_outcomes(plan)]
    if trainings:
        # A rate that diverges is a result of the search.
        tried = [file for one in plan["systems"].values() for file in (out / search_folder(one)).rglob("outcome")]
        files += [file for file in tried if (outcome := read_outcome(file)) and outcome.status == Status.FAILED]
    else:
        files = [step for file in files for step in file.parent.glob("beam*/*.outcome")]
        files += out.glob(f"{plan['results']}/figures/*.outcome")
    outcomes = {file: read_outcome(file) for file in sorted(files)}
    return {file: one for file, one in outcomes.items() if one and one.failed}


def describe_failures(plan: Mapping[str, Any], out: Path, status: int, say: Callable[[str], None]) -> str:
    """Says why each training failed, with the end of its log, and returns what failed in one line."""
    trainings, titles = find_failed(plan, out, trainings=True), training_outcomes(plan)
    failed = [(title, trainings[out / name]) for name, title in titles.items() if out / name in trainings]
    for title, outcome in failed:
        end = (f"  | {line[:300]}" for line in outcome.log.splitlines())
        say("\n".join([f"Failed: {title}: {outcome.reason}", *end]))
    others = [str(file.relative_to(out).with_suffix("")) for file in find_failed(plan, out, trainings=False)]
    others += ["a step that is named above"] * bool(status)
    hints = {"--retry to try again": [title for title, _ in failed], "rerun the same command to try again": others}
    return "; ".join(f"{'; '.join(names)} ({hint})" for hint, names in hints.items() if names)


def take_over(out: Path, say: Callable[[str], None]) -> None:
    """Makes sure that no other call works in a folder, and clears up after one that was killed.

    Raises:
        RuntimeError: if one works there, or may do so on another machine.
    """
    calls, left = find_workers(out)
    if calls:
        raise RuntimeError(f"process {min(calls)} is working in {out}: wait for it, or stop it: kill {min(calls)}")
    if locks := list_locks(out):
        host = read_last_log(out, r"^  Host: (.*)$")
        if host not in (None, platform.node()):
            raise RuntimeError(
                f"{out} is locked by a call on {host}: wait for it; if it is gone, remove {out}/.snakemake/locks"
            )
        cancel_jobs(read_last_log(out, CLUSTER_RUN))
    if left:
        numbers = ", ".join(str(process.pid) for process in left)
        say(f"Waiting for what is left of a call that was killed in {out}: process {numbers}.")
        psutil.wait_procs(left)
    for lock in locks:
        lock.unlink(missing_ok=True)


def run_workflow(
    plan: Mapping[str, Any], settings: Launch, folder: Path, place: Path, *, again: Sequence[str] = ()
) -> int:
    """One call of Snakemake.

    Args:
        plan: of the experiment.
        settings: how to run it.
        folder: to run in.
        place: the folder of the file with the plan.
        again: files that are made again though they are there.

    Returns:
        Its status.

    Raises:
        StoppedError: after a signal.
        RuntimeError: if a cluster cannot be used.
    """
    threads = threads_of_a_training(settings, os.environ)
    profile = find_profile(settings)
    file = place / "experiment.yaml"
    file.write_text(yaml.safe_dump({**plan, "threads": threads}, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command = engine_command(settings, folder, file.resolve(), threads)
    if plan["options"].get("updates"):
        command += ["--logger-progress-limit", str(plan["options"]["updates"])]
    if profile and not settings.dry_run:
        command += status_options(profile)
    command += ["--forcerun", *again] if again else []
    home = find_home(place if settings.dry_run else folder, shared=settings.profile is not None)
    status, stopped = run_engine(command, environment(folder) | home, patience=PATIENCE if profile else None)
    if stopped:
        if profile:
            cancel_jobs(read_last_log(folder, CLUSTER_RUN))
        raise StoppedError("stopped; rerun the same command to resume")
    return status


def threads_of_a_training(settings: Launch, environment: Mapping[str, str]) -> int:
    """Returns how many threads each training gets."""
    if settings.profile:  # on a cluster, which says what a job gets
        return 1
    # Who sets OMP_NUM_THREADS knows what else the machine has to do.
    return int(environment.get("OMP_NUM_THREADS") or max(1, processors() // settings.jobs))


def find_profile(settings: Launch) -> Path | None:
    """The profile of a cluster: one of this project's by its name, or one of the user's."""
    if settings.profile is None:
        return None
    known = WORKFLOW / "profiles" / settings.profile
    return known if known.is_dir() else Path(settings.profile)


def engine_command(settings: Launch, folder: Path, plan: Path, threads: int) -> list[str]:
    """The command line of Snakemake. That of a dry run writes nothing."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(WORKFLOW / "Snakefile")]
    command += ["--directory", str(folder), "--configfile", str(plan)]
    command += ["--logger", "progress", "--printshellcmds", "--keep-going"]
    # What decides a result is in its path: no other change makes a training begin anew.
    command += ["--rerun-incomplete", "--rerun-triggers", "mtime", "input"]
    command += ["--scheduler", "greedy", "--resources", "downloads=1"]
    if settings.profile:
        command += ["--profile", str(find_profile(settings))]
    else:
        command += ["--cores", str(threads * settings.jobs)]
    return [*command, "--dry-run"] if settings.dry_run else command
