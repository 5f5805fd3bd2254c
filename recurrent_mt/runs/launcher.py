"""Runs the plan of an experiment through Snakemake, here or on a cluster, and says what becomes of it."""

from __future__ import annotations

import getpass
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import psutil  # before a signal comes: an import that a second one interrupts is not whole
import yaml

from ..arguments import processors
from ..file_lock import lock_file
from .experiment import PROJECT
from .outcomes import Outcome, Status, read_outcome
from .plan import Plan
from .view import lay_out_results, require_links, show_results

WORKFLOW = PROJECT / "workflow"
#: Seconds from a signal until Snakemake, having cancelled what it has given to a cluster, is killed. It would go on
#: submitting jobs, and wait for its next look at them, which may be three minutes away.
PATIENCE = 10
#: The file of a run folder that a call, and everything that it starts here, holds locked.
LOCK = ".lock"
#: Seconds in which a command of Slurm answers, if it does.
ANSWER = 60
#: How often the executor asks for jobs again where nothing answers, and how many times a second: for a day.
STATUS_OPTIONS = {"slurm-status-attempts": "8640", "max-status-checks-per-second": "0.1"}


@dataclass(frozen=True)
class Launch:
    """How an experiment is run: nothing of it decides what comes out.

    Attributes:
        out: the run folder.
        jobs: trainings at a time, each with its share of the processors (one); on a cluster, jobs of any kind (as many
            as its profile says).
        dry_run: whether only the commands are printed.
        retry: whether what has failed before is tried again.
        profile: a folder of workflow/profiles, or a path of one; None for this machine.
    """

    out: Path
    jobs: int | None = None
    dry_run: bool = False
    retry: bool = False
    profile: str | None = None


class StoppedError(RuntimeError):
    """Raised when a signal has stopped the run."""


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
        RuntimeError: if another call may work in the folder, if the engine cannot run, or if it was stopped.
    """
    out = settings.out
    again = [
        *find_failed(plan, out, trainings=False),
        *(find_failed(plan, out, trainings=True) if settings.retry else ()),
    ]
    if settings.dry_run:
        names = [str(file.relative_to(out)) for file in again]
        with TemporaryDirectory() as elsewhere:
            # Snakemake would make a folder that does not exist.
            folder, place = out if out.is_dir() else Path(elsewhere), Path(elsewhere)
            status = run_workflow(plan, settings, folder, place, again=names)
        return f"Snakemake ended with status {status}, see above" if status else ""
    if out.is_dir() and any(out.iterdir()) and not (out / "results").is_dir():
        raise ValueError(f"{out} is not empty, and no run folder of this project: choose another with out=DIR")
    (out / "results").mkdir(parents=True, exist_ok=True)
    with (out / LOCK).open("a+b") as lock:
        take_over(out, lock, say)
        lay_out_results(plan, out)
        require_links(plan, out)
        for file in again:
            file.unlink()
        for name, title in plan.training_outcomes.items():
            if (outcome := read_outcome(out / name)) and outcome.failed:
                say(f"Failed before: {title}: {outcome.reason} (--retry to try again)")
        status = run_workflow(plan, settings, out, out / plan.results, lock=lock)
        show_results(plan.results, out)
    return describe_failures(plan, out, status, say)


def find_failed(plan: Plan, out: Path, *, trainings: bool) -> dict[Path, Outcome]:
    """The outcomes of what has failed: of trainings, searches included, or of all else."""
    names = [*plan.training_outcomes, *plan.search_outcomes] if trainings else plan.later_outcomes
    outcomes = {out / name: read_outcome(out / name) for name in sorted(names)}
    failed = {file: one for file, one in outcomes.items() if one and one.failed}
    # A rate that diverges is a result of the search.
    for name in plan.search_outcomes:
        if out / name in failed and failed[out / name].status == Status.DIVERGED:
            del failed[out / name]
    return failed


def describe_failures(plan: Plan, out: Path, status: int, say: Callable[[str], None]) -> str:
    """Says why each training failed, with the end of its log, and returns what failed in one line."""
    trainings, titles = find_failed(plan, out, trainings=True), plan.training_outcomes
    failed = [(title, trainings[out / name]) for name, title in titles.items() if out / name in trainings]
    for title, outcome in failed:
        end = (f"  | {line[:300]}" for line in outcome.log.splitlines())
        say("\n".join([f"Failed: {title}: {outcome.reason}", *end]))
    others = [str(file.relative_to(out).with_suffix("")) for file in find_failed(plan, out, trainings=False)]
    others += ["a step that is named above"] * bool(status)
    hints = {"--retry to try again": [title for title, _ in failed], "rerun the same command to try again": others}
    return "; ".join(f"{'; '.join(names)} ({hint})" for hint, names in hints.items() if names)


def take_over(out: Path, lock: IO[bytes], say: Callable[[str], None]) -> None:
    """Waits until no other call works in a folder, nor what it has started, and clears up after one that was killed.

    Args:
        out: the folder.
        lock: its file to lock, which says whose it was last.
        say: takes a line for people.

    Raises:
        RuntimeError: if one may work there unseen, on another machine.
    """
    unseen = ""
    try:
        wait_for_lock(out, lock, say)
        host, _ = read_holder(lock)
        if host not in ("", platform.node()):
            unseen = f" by a call on {host}"
    except OSError as error:  # there are no such locks where the folder is
        unseen = f", and whether a call still works there is not known ({lock.name}: {error.strerror})"
    # Snakemake takes its own locks away unless it is killed.
    remains = sorted((out / ".snakemake" / "locks").glob("*"))
    if remains and unseen:
        raise RuntimeError(f"{out} is locked{unseen}: wait for it; if it is gone, remove {out}/.snakemake/locks")
    if remains:
        cancel_jobs(find_cluster_run(out))
    for file in remains:
        file.unlink(missing_ok=True)
    lock.truncate(0)
    lock.write(f"{platform.node()} {os.getpid()}\n".encode())
    lock.flush()


def wait_for_lock(out: Path, lock: IO[bytes], say: Callable[[str], None]) -> None:
    """Locks the file of a run folder; what a killed call has started holds it, too.

    Raises:
        OSError: if there are no such locks where the folder is.
    """
    if not lock_file(lock.fileno()):
        host, process = read_holder(lock)
        whose = f": process {process} on {host}" if host else ""
        say(f"Waiting for another call in {out}, or for what is left of it{whose}.")
    while not lock_file(lock.fileno()):
        time.sleep(0.1)


def read_holder(lock: IO[bytes]) -> tuple[str, int]:
    """The machine and the process that had a lock last; nothing and zero if its file does not say."""
    lock.seek(0)
    host, _, process = lock.read().decode(errors="replace").strip().rpartition(" ")
    return (host, int(process)) if process.isdecimal() else ("", 0)


def run_workflow(
    plan: Plan,
    settings: Launch,
    folder: Path,
    place: Path,
    *,
    again: Sequence[str] = (),
    lock: IO[bytes] | None = None,
) -> int:
    """One call of Snakemake.

    Args:
        plan: of the experiment.
        settings: how to run it.
        folder: to run in.
        place: the folder of the file with the plan.
        again: files that are made again though they are there, in a dry run.
        lock: the locked file of the folder.

    Returns:
        Its status.

    Raises:
        StoppedError: after a signal.
        RuntimeError: if a cluster cannot be used.
    """
    threads = threads_of_a_training(settings, os.environ)
    profile = find_profile(settings)
    file = place / "experiment.yaml"
    record = {**plan.to_record(), "threads": threads}
    file.write_text(yaml.safe_dump(record, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command = engine_command(settings, folder, file.resolve(), threads)
    if plan.experiment.updates:
        command += ["--logger-progress-limit", str(plan.experiment.updates)]
    if profile and not settings.dry_run:
        command += status_options(profile)
    command += ["--forcerun", *again] if again else []
    home = find_home(place if settings.dry_run else folder, shared=settings.profile is not None)
    patience = PATIENCE if profile else None
    status, stopped = run_engine(command, environment() | home, lock, patience=patience)
    if stopped:
        if profile:
            cancel_jobs(find_cluster_run(folder))
        raise StoppedError("stopped; rerun the same command to resume")
    return status


def threads_of_a_training(settings: Launch, environment: Mapping[str, str]) -> int:
    """Returns how many threads each training gets.

    Raises:
        ValueError: if OMP_NUM_THREADS is no number of threads.
    """
    if settings.profile:  # on a cluster, which says what a job gets
        return 1
    # Who sets it knows what else the machine has to do. After a comma comes what OpenMP takes for nested loops.
    given = environment.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if not given:
        return max(1, processors() // (settings.jobs or 1))
    if not given.isdecimal() or not int(given):
        raise ValueError(f"OMP_NUM_THREADS is {given!r}: set it to a whole number above zero, or unset it")
    return int(given)


def find_profile(settings: Launch) -> Path | None:
    """The profile of a cluster: one of this project's by its name, or one of the user's."""
    if settings.profile is None:
        return None
    known = WORKFLOW / "profiles" / settings.profile
    return known if known.is_dir() else Path(settings.profile)


def engine_command(settings: Launch, folder: Path, plan: Path, threads: int) -> list[str]:
    """The command line of Snakemake. That of a dry run writes nothing."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(WORKFLOW / "Snakefile")]
    # Only what is named here steers an experiment, not what Snakemake finds in the folder of the call.
    command += ["--workflow-profile", "none", "--profile", str(find_profile(settings) or "none")]
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


def find_home(folder: Path, *, shared: bool = False) -> dict[str, str]:
    """Variables for what Snakemake and the tools look for at home, where that cannot be had, as in many containers.

    Args:
        folder: that can be written, such as that of the run: in place of the user's caches.
        shared: whether jobs run on other machines, which may have another home folder, or none.
    """
    cache = str(folder.resolve() / ".cache")
    variables = {"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR") or f"{cache}/matplotlib"}
    try:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        place.mkdir(parents=True, exist_ok=True)
        if os.access(place, os.W_OK) and not shared:
            variables = {}
    except OSError:
        pass
    except RuntimeError:  # no home folder at all
        variables["HOME"] = cache
    try:
        getpass.getuser()
    except (KeyError, OSError):  # a number without a name
        variables["USER"] = str(os.getuid())
    return variables


def run_engine(
    command: Sequence[str], variables: Mapping[str, str], lock: IO[bytes] | None, *, patience: float | None
) -> tuple[int, bool]:
    """Runs Snakemake, whose status it returns, and whether a signal has stopped it.

    Args:
        command: its command line.
        variables: of its environment.
        lock: a file at its end, for standard input, which nothing reads: Snakemake's jobs inherit no other open file.
        patience: seconds after a signal when it is killed; None to wait for its jobs, which may have to keep something.
    """
    stopped = False
    started: list[subprocess.Popen[bytes]] = []

    def stop(number: int, _: object) -> None:
        nonlocal stopped
        for process in started:
            end_all(process.pid)
            if patience is not None and not stopped:
                killer = threading.Timer(patience, end_all, [process.pid], {"kill": True})
                killer.daemon = True
                killer.start()
        stopped = True

    # Set before Snakemake starts: it would inherit signals that are ignored, as SIGINT is in a shell's background.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        started.append(subprocess.Popen(command, env=dict(variables), stdin=lock))
        return started[0].wait(), stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_all(process: int, *, kill: bool = False) -> None:
    """Asks Snakemake and everything it has started to end: a training then keeps where it is. Or else kills them."""
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process)
        for child in parent.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        # At SIGINT, Snakemake cancels what it has given to a cluster, too; at SIGTERM, it would wait for that.
        parent.send_signal(signal.SIGKILL if kill else signal.SIGINT)


def find_cluster_run(folder: Path) -> str | None:
    """The name of all jobs of the last call on a cluster, by Snakemake's last log; None if it names none."""
    logs = sorted((folder / ".snakemake" / "log").glob("*.log"))
    text = logs[-1].read_text(encoding="utf-8", errors="replace") if logs else ""
    found = re.findall(r"SLURM run ID: (\S+)", text)
    return found[-1] if found else None


def status_options(profile: Path) -> list[str]:
    """Options by which Slurm's executor learns what becomes of its jobs; without, it would wait for ever.

    Args:
        profile: of Snakemake. What it says is left as it is, and nothing is added to one for another executor.

    Raises:
        RuntimeError: if `sacct` does not answer, and the profile names nothing else to ask.
    """
    file = profile / "config.yaml"
    settings = (yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None) or {}
    if settings.get("executor") != "slurm":
        return []
    if "slurm-status-command" not in settings and ask("sacct", "--noheader") is None:
        raise RuntimeError(
            "sacct does not answer: call this on a machine from which Slurm takes jobs; if this Slurm has no "
            f"accounting, have squeue asked: slurm-status-command: squeue in {file}, and MinJobAge above 180 in "
            "slurm.conf"
        )
    return [word for key, value in STATUS_OPTIONS.items() if key not in settings for word in (f"--{key}", value)]


def cancel_jobs(run: str | None) -> None:
    """Cancels what is left of a run, also what the executor has submitted since it was told to stop.

    Args:
        run: the name that all its jobs have; None if there are none.
    """
    if run is not None:
        ask("scancel", "--name", run)


def ask(*command: str) -> str | None:
    """What a command of Slurm says; None if it fails, or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=ANSWER)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout
