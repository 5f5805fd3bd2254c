"""Snakemake's process: what it finds in its environment, its end, and who else works in a run folder."""

from __future__ import annotations

import getpass
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil  # before a signal comes: an import that a second one interrupts is not whole

from .options import PROJECT

WORKFLOW = PROJECT / "workflow"
#: Seconds from a signal until Snakemake, having cancelled what it has given to a cluster, is killed. It would go on
#: submitting jobs, and wait for its next look at them, which may be three minutes away.
PATIENCE = 10
#: A variable of all processes that a call starts: the number of the call's own process, and the run folder.
CALL = "RECURRENT_MT_CALL"


def environment(folder: Path) -> dict[str, str]:
    """The tools of this environment by their names, the workflow's own plugin, and the mark of this call."""
    variables = dict(os.environ)
    programs = str(Path(sys.executable).parent)
    variables["PATH"] = f"{programs}{os.pathsep}{variables.get('PATH', '')}"
    paths = [str(WORKFLOW), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    variables[CALL] = f"{os.getpid()}:{folder.resolve()}"
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


def run_engine(command: Sequence[str], variables: Mapping[str, str], *, patience: float | None) -> tuple[int, bool]:
    """Runs Snakemake, whose status it returns, and whether a signal has stopped it.

    Args:
        command: its command line.
        variables: of its environment.
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
        started.append(subprocess.Popen(command, env=dict(variables)))
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


def find_workers(folder: Path) -> tuple[set[int], list[psutil.Process]]:
    """Who works in a run folder on this machine.

    Returns:
        The processes of calls that go on, and what is left of calls that were killed.
    """
    calls, left = set(), []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            call, _, place = process.environ().get(CALL, "").partition(":")
            if place != str(folder.resolve()) or process.pid == os.getpid():
                continue
            # Another process may have got the number of one that is gone.
            with suppress(psutil.NoSuchProcess):
                if psutil.Process(int(call)).create_time() <= process.create_time():
                    calls.add(int(call))
                    continue
            left.append(process)
    return calls, left


def read_last_log(folder: Path, pattern: str) -> str | None:
    """What Snakemake's last log in a run folder says about something; None if it says nothing."""
    logs = sorted((folder / ".snakemake" / "log").glob("*.log"))
    found = re.findall(pattern, logs[-1].read_text(encoding="utf-8", errors="replace"), re.MULTILINE) if logs else []
    return str(found[-1]) if found else None


def list_locks(folder: Path) -> list[Path]:
    """Snakemake's locks, which it takes away unless it is killed."""
    return sorted((folder / ".snakemake" / "locks").glob("*"))
