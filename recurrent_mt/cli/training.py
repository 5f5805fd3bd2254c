"""Runs fairseq-train for one training of an experiment, and keeps what it says in FOLDER/train.log.

A log is continued where training is. FOLDER/peak-memory gets the most bytes that the largest process has held at once,
as the kernel counts them; a greater number already there stays, so that calls that resume each other leave the peak of
all. FOLDER/outcome says how the training ended, and with what commit and libraries, unless it was stopped from outside
or by a full disk: a failure is an outcome, too. The operating system must be Linux or macOS.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

from ..arguments import positive
from ..file_lock import open_locked
from ..runs.folder import OUTCOME, PEAK_MEMORY, TRAIN_LOG
from ..runs.outcomes import judge, was_interrupted
from ..runs.processes import share_threads, start_processes
from ..runs.train_log import read_peak_memory
from ..text_files import write_text
from ..versions import describe_versions

SECONDS_BETWEEN_READINGS = 2.0
#: The unit in which the kernel counts children's memory.
UNIT = 1 if sys.platform == "darwin" else 1024
HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the training")
    parser.add_argument(
        "--processes", type=positive, default=1, metavar="N", help="number of processes to train with (torchrun)"
    )
    # Whatever follows belongs to the command.
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="command with its arguments")


def run(options: argparse.Namespace) -> int:
    """Runs the command, and returns its status if it was stopped."""
    if not options.command:
        options.parser.error("give a command to run")
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    program, *arguments = options.command
    begin = start_processes(shutil.which(program) or program, options.processes, flags=arguments)
    command = [*begin, *arguments]
    log = folder / TRAIN_LOG
    with open_log(log) as file:
        (folder / OUTCOME).unlink(missing_ok=True)
        end_line(log)
        start = file.seek(0, os.SEEK_END)
        environment = share_threads(os.environ, options.processes)
        status = measure(command, folder / PEAK_MEMORY, file.fileno(), environment)
    if was_interrupted(log, status, start=start):
        return status
    replace(judge(log, status, start=start), versions=describe_versions()).write(folder / OUTCOME)
    return 0


def open_log(log: Path) -> IO[bytes]:
    """Opens a log that is locked as long as this process, or the training that it starts and that writes it, runs.

    Raises:
        RuntimeError: if another training writes it, such as one that a killed call has left behind.
    """

    def open_it() -> int:
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    try:
        file = open_locked(log, open_it)
    except OSError:  # there are no such locks where the folder is
        file = open_it()
    if file is None:
        raise RuntimeError(f"another training still writes {log}: wait for it, or end it")
    return os.fdopen(file, "ab")


def end_line(log: Path) -> None:
    """A log that was cut off in mid-line must not swallow this call's first line."""
    if log.is_file() and log.stat().st_size:
        with log.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")


def measure(command: list[str], peak: Path, output: int, environment: Mapping[str, str]) -> int:
    """The status of a command, or 128 + N if signal N ended it or this process; its peak of memory goes to a file."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
    stopped: list[int] = []

    def stop(number: int, _: object) -> None:
        stopped.append(number)
        # A terminal has sent this one to the command, too.
        if number != signal.SIGINT:
            process.send_signal(number)

    # Whoever stops this process stops the command with it, and the command decides what to do about it.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, stop)
    status = None
    while status is None:
        try:
            status = process.wait(timeout=SECONDS_BETWEEN_READINGS)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT
        except subprocess.TimeoutExpired:
            used = read_high_water(process.pid)
        if used > (read_peak_memory(peak) or 0):
            write_text(peak, f"{used}\n")
    # torchrun says of all signals that stop it only that it has failed.
    if status > 0 and stopped:
        return 128 + stopped[0]
    return status if status >= 0 else 128 - status


def read_high_water(process: int) -> int:
    """The most bytes that a running process has held; 0 if the kernel does not say."""
    try:
        found = HIGH_WATER.search(Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
