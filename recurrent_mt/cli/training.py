"""Runs fairseq-train for one training of an experiment, and keeps what it says in FOLDER/train.log.

A log is continued where training is. FOLDER/peak-memory gets the most bytes that the largest process has held at once,
as the kernel counts them; a greater number already there stays, so that calls that resume each other leave the peak of
all. FOLDER/outcome says how the training ended, unless it was stopped from outside: a failure is an outcome, too. The
operating system must be Linux or macOS.
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
from pathlib import Path

from ..evaluation.outcomes import OUTCOME, STOPPED, judge
from ..evaluation.train_log import choose_rate
from ..experiments.torchrun import share_threads, start_processes
from ..option_types import positive
from ..text_files import write_text

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
    """Runs the command, and returns its status if it was stopped.

    Raises:
        OSError: if it cannot be started, or if a file cannot be written.
    """
    if not options.command:
        options.parser.error("give a command to run")
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OUTCOME).unlink(missing_ok=True)
    program, *arguments = options.command
    command = [*start_processes(shutil.which(program) or program, options.processes), *arguments]
    log = folder / "train.log"
    end_line(log)
    with log.open("ab") as file:
        start = file.tell()
        environment = share_threads(os.environ, options.processes)
        status = measure(command, folder / "peak-memory", file.fileno(), environment)
    if status in STOPPED:
        return status
    judge(log, status, start=start).write(folder / OUTCOME)
    return 0


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
        keep_greater(peak, used)
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


def keep_greater(file: Path, used: int) -> None:
    """Writes the number unless the file has a greater one."""
    if used > (int(file.read_text(encoding="utf-8")) if file.is_file() else 0):
        write_text(file, f"{used}\n")


class Outcome:
    """Writes why a step of an experiment failed, by its log and status: the steps that do not need it go on.

    A step that was stopped from outside has no outcome: this command then ends with the same status.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="file to write")
        parser.add_argument("--log", type=Path, required=True, help="log of the step")
        parser.add_argument("--status", type=int, required=True, help="status that it ended with")

    @staticmethod
    def run(options: argparse.Namespace) -> int:
        if options.status in STOPPED:
            return int(options.status)
        judge(options.log, options.status).write(options.file)
        return 0


class ChooseRate:
    """Chooses a model's learning rate by validation loss, once, and prints the seed of the search and the rate.

    FOLDER has a training run in seed-S/R for each rate; the choice is kept in FOLDER/choice.json.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder")
        parser.add_argument("--seed", type=int, required=True, help="seed of the training runs")
        parser.add_argument("--rates", required=True, help="comma-separated, as in the folder names")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        choice = choose_rate(options.folder, seed=options.seed, rates=options.rates.split(","))
        print(choice.seed, choice.chosen)
