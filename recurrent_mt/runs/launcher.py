"""Runs the plan of an experiment through Snakemake, here or on a cluster, and says what becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from ..arguments import processors
from .experiment import PROJECT
from .folder import OUTCOME
from .outcomes import Outcome, read_outcome
from .plan import Plan
from .view import lay_out_results, show_results

WORKFLOW = PROJECT / "workflow"


@dataclass(frozen=True)
class Launch:
    """How an experiment is run: nothing of it decides what comes out."""

    out: Path  # the run folder
    #: trainings at a time, each with its share of the processors (one); on a cluster, jobs of any kind (as many as its
    #: profile says)
    jobs: int | None = None
    dry_run: bool = False  # whether only the commands are printed
    retry: bool = False  # whether what has failed before is tried again
    profile: str | None = None  # a folder of workflow/profiles, or a path of one; None for this machine


def launch(plan: Plan, settings: Launch, say: Callable[[str], None] = print) -> str:
    """Runs everything that is left to do.

    Args:
        plan: of the experiment.
        settings: how to run it.
        say: takes a line for people.

    Returns:
        What failed, and what to do about it; empty if nothing did.

    Raises:
        ValueError: if the folder holds something else, or copies in place of its links.
        RuntimeError: if another call may work in the folder, or if this one was stopped.
    """
    out = settings.out
    again = [
        *find_failed(out, plan.later_outcomes),
        *(find_failed(out, plan.training_outcomes) if settings.retry else ()),
    ]
    if settings.dry_run:
        with TemporaryDirectory() as elsewhere:
            # Snakemake would make a folder that does not exist.
            folder = out if out.is_dir() else Path(elsewhere)
            status = run_workflow(plan, settings, folder, Path(elsewhere), again=again)
        return f"Snakemake ended with status {status}, see above" if status else ""
    if out.is_dir() and any(out.iterdir()) and not (out / "results").is_dir():
        raise ValueError(f"{out} is not empty, and no run folder of this project: choose another with out=DIR")
    (out / "results").mkdir(parents=True, exist_ok=True)
    locks = out / ".snakemake" / "locks"
    if any(locks.glob("*")):
        message = f"{out} is locked: wait for the call that works there; if it was killed, and nothing of it runs"
        raise RuntimeError(f"{message} any more, remove {locks}")
    lay_out_results(plan, out)
    for name in again:
        (out / name).unlink()
    for name, outcome in find_failed(out, plan.training_outcomes).items():
        say(f"Failed before: {plan.training_outcomes[name]}: {outcome.reason} (--retry to try again)")
    status = run_workflow(plan, settings, out, out / plan.results)
    show_results(plan.results, out)
    return describe_failures(plan, out, status, say)


def find_failed(out: Path, names: Iterable[str]) -> dict[str, Outcome]:
    """Those of the outcomes of these names that are failures."""
    outcomes = {name: read_outcome(out / name) for name in names}
    return {name: one for name, one in outcomes.items() if one and one.failed}


def describe_failures(plan: Plan, out: Path, status: int, say: Callable[[str], None]) -> str:
    """Says why each training failed, with the end of its log, and returns what failed in one line."""
    titles = plan.training_outcomes
    failed = find_failed(out, titles)
    for name, outcome in failed.items():
        end = (f"  | {line[:300]}" for line in outcome.log.splitlines())
        say("\n".join([f"Failed: {titles[name]}: {outcome.reason}", *end]))
    others = [name.removesuffix(f".{OUTCOME}") for name in find_failed(out, plan.later_outcomes)]
    others += ["a step that is named above"] * bool(status)
    hints = {"--retry to try again": [titles[name] for name in failed], "rerun the same command to try again": others}
    return "; ".join(f"{'; '.join(names)} ({hint})" for hint, names in hints.items() if names)


def run_workflow(plan: Plan, settings: Launch, folder: Path, place: Path, *, again: Sequence[str] = ()) -> int:
    """One call of Snakemake.

    Args:
        plan: of the experiment.
        settings: how to run it.
        folder: to run in.
        place: the folder of the file with the plan.
        again: files that are made again though they are there, in a dry run.

    Returns:
        Its status.

    Raises:
        RuntimeError: after a signal, or if Snakemake alone was killed, as where memory ran out.
    """
    threads = threads_of_a_training(settings, os.environ)
    file = place / "experiment.yaml"
    record = {**plan.to_record(), "threads": threads}
    file.write_text(yaml.safe_dump(record, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command = engine_command(settings, folder, file.resolve(), threads)
    if plan.experiment.updates:
        command += ["--logger-progress-limit", str(plan.experiment.updates)]
    command += ["--forcerun", *again] if again else []
    status, stopped = run_engine(command, environment())
    if stopped:
        raise RuntimeError("stopped; rerun the same command to resume")
    if status < 0:
        raise RuntimeError(f"Snakemake was ended by signal {-status}; what it has started may still run in {folder}")
    return status


def threads_of_a_training(settings: Launch, environment: Mapping[str, str]) -> int:
    """How many threads each training gets."""
    if settings.profile:  # on a cluster, which says what a job gets
        return 1
    # Who sets it knows what else the machine has to do. After a comma comes what OpenMP takes for nested loops.
    given = environment.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(given) if given else max(1, processors() // (settings.jobs or 1))


def engine_command(settings: Launch, folder: Path, plan: Path, threads: int) -> list[str]:
    """The command line of Snakemake. That of a dry run writes nothing."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(WORKFLOW / "Snakefile")]
    # One of this project's by its name, or one of the user's.
    known = WORKFLOW / "profiles" / str(settings.profile)
    profile = str(known) if known.is_dir() else settings.profile or "none"
    # Only what is named here steers an experiment, not what Snakemake finds in the folder of the call.
    command += ["--workflow-profile", "none", "--profile", profile]
    command += ["--directory", str(folder), "--configfile", str(plan)]
    command += ["--logger", "progress", "--printshellcmds", "--keep-going"]
    # What decides a result is in its path: no other change makes a training begin anew.
    command += ["--rerun-incomplete", "--rerun-triggers", "mtime", "input"]
    command += ["--scheduler", "greedy", "--resources", "downloads=1"]
    if settings.profile:
        command += ["--jobs", str(settings.jobs)] if settings.jobs else []
    else:
        command += ["--cores", str(threads * (settings.jobs or 1))]
    return [*command, "--dry-run"] if settings.dry_run else command


def environment() -> dict[str, str]:
    """The tools of this environment by their names, the workflow's own plugin, and the code of this clone."""
    variables = dict(os.environ)
    variables.pop("SNAKEMAKE_PROFILE", None)  # for workflows of the user's own
    programs = str(Path(sys.executable).parent)
    variables["PATH"] = f"{programs}{os.pathsep}{variables.get('PATH', '')}"
    # Every step runs this code, even if the environment has a copy of its own.
    paths = [str(WORKFLOW), str(PROJECT), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    # Corpora are UTF-8, whatever the locale says; modules are not looked for in the run folder.
    return {**variables, "PYTHONUTF8": "1", "PYTHONSAFEPATH": "1"}


def run_engine(command: Sequence[str], variables: Mapping[str, str]) -> tuple[int, bool]:
    """Runs Snakemake, whose status it returns, and whether a signal has stopped it.

    At SIGINT, it ends its jobs, and waits for them: they may have to keep something.
    """
    stopped = False
    started: list[subprocess.Popen[bytes]] = []

    def stop(number: int, _: object) -> None:
        nonlocal stopped
        stopped = True
        for process in started:
            process.send_signal(signal.SIGINT)

    # Set before Snakemake starts: it would inherit signals that are ignored, as SIGINT is in a shell's background.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        started.append(subprocess.Popen(command, env=dict(variables), stdin=subprocess.DEVNULL))
        return started[0].wait(), stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
