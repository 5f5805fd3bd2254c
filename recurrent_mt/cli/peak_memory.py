"""Runs a command and records in a file the most memory that its largest process has held at once, in bytes.

The kernel does the counting: the peak of resident pages. While the command runs, the file is kept up to date, so that a
kill leaves what was known so far. A greater number already in the file stays, so that calls that resume each other
leave the peak of all of them. Exits with the command's status, or 128 + N if signal N ended it. The operating system
must be Linux or macOS.
"""

from __future__ import annotations

import argparse
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

SECONDS_BETWEEN_READINGS = 2.0
#: The unit in which the kernel counts children's memory.
UNIT = 1 if sys.platform == "darwin" else 1024
HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="file for the number of bytes")
    # Whatever follows the file belongs to the command.
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="command with its arguments")


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its status.

    Raises:
        OSError: if it cannot be started, or if the file cannot be written.
    """
    if not options.command:
        options.parser.error("give a command to run")
    process = subprocess.Popen(options.command)
    # An interrupt from the keyboard also reaches the command, which decides what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = None
    while status is None:
        try:
            status = process.wait(timeout=SECONDS_BETWEEN_READINGS)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT
        except subprocess.TimeoutExpired:
            used = read_high_water(process.pid)
        keep_greater(options.file, used)
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
    if used <= (int(file.read_text(encoding="utf-8")) if file.is_file() else 0):
        return
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(f"{used}\n", encoding="utf-8")
    partial.replace(file)
