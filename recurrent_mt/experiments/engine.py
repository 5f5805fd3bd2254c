"""Snakemake's process: what it finds in its environment, the events that it writes, and its end."""

from __future__ import annotations

import getpass
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil  # before a signal comes: an import that a second one interrupts is not whole

from .console import Console
from .options import PROJECT

WORKFLOW = PROJECT / "workflow"
#: Seconds from a signal until Snakemake, having cancelled what it has given to a cluster, is killed. It would go on
#: submitting jobs, and wait for its next look at them, which may be three minutes away.
PATIENCE = 10


def environment() -> dict[str, str]:
    """The tools of this environment by their names, and the workflow's own plugin."""
    variables = dict(os.environ)
    programs = str(Path(sys.executable).parent)
    variables["PATH"] = f"{programs}{os.pathsep}{variables.get('PATH', '')}"
    paths = [str(WORKFLOW), variables.get("PYTHONPATH", "")]
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


def follow(
    command: Sequence[str], console: Console, variables: Mapping[str, str], *, patience: float | None = None
) -> tuple[int, bool]:
    """Runs Snakemake, whose status it returns, and whether a signal has stopped it.

    Args:
        command: its command line.
        console: that shows what it does.
        variables: of its environment.
        patience: seconds after a signal when it is killed; None to wait for its jobs, which may have to keep something.
    """
    stopped = False
    started: list[subprocess.Popen[str]] = []

    def stop(number: int, _: object) -> None:
        nonlocal stopped
        for process in started:
            terminate_all(process.pid)
            if patience is not None and not stopped:
                killer = threading.Timer(patience, kill_all, [process.pid])
                killer.daemon = True
                killer.start()
        stopped = True

    # Set before Snakemake starts: it would inherit signals that are ignored, as SIGINT is in a shell's background.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    process = subprocess.Popen(
        command,
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    started.append(process)
    done = threading.Event()
    watcher = threading.Thread(target=console.watch, args=[done], daemon=True)
    watcher.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            event = read_event(line)
            if event is None:
                console.errors.append(line.rstrip())
            elif not stopped:
                console.handle(event)
        status = process.wait()
    finally:
        done.set()
        watcher.join()
        for number, handler in before.items():
            signal.signal(number, handler)
    return status, stopped


def read_event(line: str) -> dict[str, Any] | None:
    """An event of the logger plugin; None for what else is written."""
    if not line.startswith('{"event": '):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def terminate_all(process: int) -> None:
    """Asks Snakemake and everything it has started to end; a training then keeps where it is."""
    # At SIGINT, Snakemake cancels what it has given to a cluster, too; at SIGTERM, it would wait for that.
    signal_all(process, signal.SIGINT, children=signal.SIGTERM)


def kill_all(process: int) -> None:
    """Ends Snakemake and everything it has started, so that nothing is submitted to a cluster any more."""
    signal_all(process, signal.SIGKILL, children=signal.SIGKILL)


def signal_all(process: int, number: int, *, children: int) -> None:
    """Sends signals to what a process has started, and to itself; whatever has ended gets none."""
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process)
        for child in parent.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.send_signal(children)
        parent.send_signal(number)
