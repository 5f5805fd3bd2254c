"""Runs the plan of an experiment through Snakemake, and says what becomes of it."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from ..ordered_map import processors
from .console import Console, Job
from .engine import PATIENCE, WORKFLOW, environment, find_home, follow
from .failures import Failures, find_reason, read_failure, record_failure
from .plan import all_trainings, lay_out_results, show_results
from .slurm import cancel_jobs, status_options

STOPPED = "stopped; rerun the same command to resume"


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


def launch(plan: Mapping[str, Any], settings: Launch, say: Callable[[str], None] = print) -> Failures:
    """Runs everything that is left to do.

    Args:
        plan: of the experiment.
        settings: how to run it.
        say: takes a line for people.

    Returns:
        What failed.

    Raises:
        ValueError: if the folder holds something else.
        RuntimeError: if the engine cannot run, or was stopped.
    """
    out = settings.out
    if settings.dry_run:
        with TemporaryDirectory() as elsewhere:
            # Snakemake would make a folder that does not exist.
            run_workflow(plan, settings, out if out.is_dir() else Path(elsewhere), left_out=[])
        return Failures()
    if out.is_dir() and any(out.iterdir()) and not (out / "results").is_dir():
        raise ValueError(f"{out} is not empty, and no run folder of this project: choose another with out=DIR")
    out.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(out, say):
        lay_out_results(plan, out)
        left_out = []
        for system, seed in all_trainings(plan):
            folder = training_folder(plan, system, seed, out)
            if (reason := read_failure(folder)) is None:
                continue
            if settings.retry:
                (folder / "failure").unlink()
            else:
                say(f"Failed before: {system}, seed {seed}: {reason} (--retry to try again)")
                left_out.append((system, seed))
        failed = run_workflow(plan, settings, out, left_out=left_out)
        if failed:
            record_failures(plan, failed, out)
            ended = {pair for job in failed for pair in list_trainings(plan, job)} | set(left_out)
            left_out = [pair for pair in all_trainings(plan) if pair in ended]
            if left_out and len(left_out) < len(list(all_trainings(plan))):
                # What has not failed gets its tables and its report.
                failed = [job for job in failed if "system" not in job.wildcards]
                failed += run_workflow(plan, settings, out, left_out=left_out)
        show_results(plan, out)
    recorded = [pair for pair in all_trainings(plan) if read_failure(training_folder(plan, *pair, out))]
    jobs = [job.title for job in failed if not set(list_trainings(plan, job)) & set(recorded)]
    return Failures([f"{system}, seed {seed}" for system, seed in recorded], list(dict.fromkeys(jobs)))


def training_folder(plan: Mapping[str, Any], system: str, seed: int, out: Path) -> Path:
    """Returns the folder of one training."""
    return out / "trainings" / plan["systems"][system]["folder"] / f"seed-{seed}"


def list_trainings(plan: Mapping[str, Any], job: Job) -> list[tuple[str, int]]:
    """The trainings that a job belongs to: all of a system, if it is part of the search for a learning rate."""
    folder = job.wildcards.get("folder") or job.wildcards.get("searched")
    seed = None if job.rule == "try_rate" else job.wildcards.get("seed")
    found = [pair for pair in all_trainings(plan) if plan["systems"][pair[0]]["folder"] == folder]
    return [pair for pair in found if seed in (None, str(pair[1]))]


def record_failures(plan: Mapping[str, Any], failed: Sequence[Job], out: Path) -> None:
    """Leaves with every training of a system why no learning rate can be chosen for it.

    `recurrent-mt training` has left the reason with each training that failed by itself. One without a reason was
    stopped from outside, or something else failed: rerunning the command resumes there.
    """
    for job in failed:
        reason = None
        if job.rule == "try_rate":
            reason = read_failure((out / job.logs[0]).parent)
        elif job.rule == "choose_rate":
            reason = find_reason(out / job.logs[0])
        for pair in list_trainings(plan, job) if reason else ():
            place = training_folder(plan, *pair, out)
            if read_failure(place) is None:
                record_failure(place, f"no learning rate was chosen: {reason}")


@contextmanager
def one_at_a_time(out: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Waits for another call in the same folder. Unlike Snakemake's own lock, the kernel's ends with its process."""
    folder = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting: another process is working in {out}.")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def run_workflow(
    plan: Mapping[str, Any], settings: Launch, folder: Path, *, left_out: Sequence[tuple[str, int]]
) -> list[Job]:
    """One call of Snakemake.

    Returns:
        The jobs that failed.

    Raises:
        StoppedError: after a signal.
        RuntimeError: if Snakemake fails for another reason than its jobs.
    """
    threads = threads_of_a_training(settings, os.environ)
    profile = find_profile(settings)
    with TemporaryDirectory() as elsewhere:
        place = Path(elsewhere) if settings.dry_run else folder / plan["results"]
        file = place / "experiment.yaml"
        content = {**plan, "left_out": [list(pair) for pair in left_out], "threads": threads}
        file.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
        limit = plan["options"].get("updates")
        console = Console(settings.out, limit=limit, plan_only=settings.dry_run)
        command = engine_command(settings, folder, file.resolve(), threads)
        if profile and not settings.dry_run:
            command += status_options(profile)
        home = find_home(Path(elsewhere) if settings.dry_run else folder, shared=settings.profile is not None)
        status, stopped = follow(command, console, environment() | home, patience=PATIENCE if profile else None)
    if stopped:
        cancel_jobs(console.cluster_run)
        raise StoppedError(STOPPED)
    if settings.dry_run and not status and not console.total:
        console.say(f"Everything is there: nothing is left to do in {settings.out}.")
    if status and not console.failed:
        messages = [line for line in console.errors if line] or [f"Snakemake ended with status {status}"]
        raise RuntimeError("\n".join(messages[-5:]))
    return console.failed


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
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(WORKFLOW / "Snakefile"),
        "--directory",
        str(folder),
    ]
    command += ["--configfile", str(plan), "--logger", "events", "--printshellcmds", "--nolock", "--keep-going"]
    # What decides a result is in its path: no other change makes a training begin anew.
    command += ["--rerun-incomplete", "--rerun-triggers", "mtime", "input"]
    command += ["--scheduler", "greedy", "--resources", "downloads=1"]
    if settings.profile:
        command += ["--profile", str(find_profile(settings))]
    else:
        command += ["--cores", str(threads * settings.jobs)]
    return [*command, "--dry-run"] if settings.dry_run else command
