"""Stand-ins for the commands of a cluster with Slurm, which run jobs on this machine: a folder for PATH.

What is submitted, what becomes of it, and what is cancelled is in the folder ``jobs`` beside them: JOB.state, JOB.name
and JOB.process. No job is forgotten. A file ``command``, where it is not empty, has what every job does instead, and an
executable that is removed from ``bin`` is a command that the cluster does not have.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMANDS = ("sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo", "srun")


def write_commands(folder: Path) -> Path:
    """Makes the commands, of which `sacct` knows nothing.

    Args:
        folder: new; it gets the folders ``bin`` and ``jobs``.

    Returns:
        The folder with the commands.
    """
    (folder / "jobs").mkdir(parents=True)
    (folder / "command").touch()
    (folder / "bin").mkdir()
    for name in COMMANDS:
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} -E -S {__file__} {name} "$0" "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    return folder / "bin"


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """No command sees a job that is half there."""
    with (folder / "lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def living(folder: Path) -> list[int]:
    """The processes of jobs that have not ended."""
    found = [int(file.read_text()) for file in (folder / "jobs").glob("*.process")]
    # The third field of a process that has ended and that nobody has waited for is Z.
    stats = {number: Path(f"/proc/{number}/stat") for number in found}
    return [number for number, stat in stats.items() if stat.exists() and stat.read_text().split()[2] != "Z"]


def states(folder: Path) -> dict[str, str]:
    """Number to state of every job."""
    return {file.stem: file.read_text() for file in sorted((folder / "jobs").glob("*.state"))}


def submit(folder: Path, words: list[str]) -> int:
    """sbatch: starts the job, which outlives this process, and prints its number."""
    number = len(states(folder)) + 1
    wrapped = next(word.removeprefix("--wrap=") for word in words if word.startswith("--wrap="))
    line = (folder / "command").read_text() or wrapped
    output = Path(words[words.index("--output") + 1].replace("%j", str(number)))
    # A job is there or not, whatever ends this process: it takes a signal only afterwards, and the job takes its own.
    signal.signal(signal.SIGTERM, lambda *_: None)
    supervisor = [sys.executable, "-E", "-S", __file__, "job", str(folder / "bin" / "sbatch"), str(number), line]
    with output.open("w") as log:
        process = subprocess.Popen(
            supervisor,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "SLURM_JOB_ID": str(number)},
            start_new_session=True,
        )
    (folder / "jobs" / f"{number}.process").write_text(str(process.pid))
    (folder / "jobs" / f"{number}.name").write_text(words[words.index("--job-name") + 1])
    write_state(folder, number, "RUNNING")
    print(number)
    return 0


def write_state(folder: Path, number: object, state: str) -> None:
    new = folder / "jobs" / f"{number}.new"
    new.write_text(state)
    new.replace(folder / "jobs" / f"{number}.state")


def cancel(folder: Path, words: list[str]) -> int:
    """scancel: ends the jobs, each a session of its own, by their numbers or by their name."""
    if words[0] == "--name":
        words = [file.stem for file in (folder / "jobs").glob("*.name") if file.read_text() == words[1]]
    for number in words:
        process = folder / "jobs" / f"{number}.process"
        if process.exists() and states(folder)[number] == "RUNNING":
            os.killpg(int(process.read_text()), signal.SIGTERM)
            write_state(folder, number, "CANCELLED")
    return 0


def answer(name: str, folder: Path, words: list[str]) -> int:
    """What a command does."""
    if name in ("sbatch", "scancel"):
        with one_at_a_time(folder):
            return submit(folder, words) if name == "sbatch" else cancel(folder, words)
    if name == "job":
        number, line = words
        status = subprocess.run(["sh", "-c", line]).returncode
        with one_at_a_time(folder):
            write_state(folder, number, "FAILED" if status else "COMPLETED")
    if name == "srun":
        command = next(index for index, word in enumerate(words) if not word.startswith("-"))
        os.execvp(words[command], words[command:])
    if name == "sacct":
        print("Slurm accounting storage is disabled", file=sys.stderr)
        return 1
    if name == "squeue":
        print("".join(f"{number}|{state}\n" for number, state in states(folder).items()), end="")
    elif name == "scontrol":
        print("MinJobAge               = 300 sec")
    elif name == "sinfo":
        print("PARTITION\nmain*")
    return 0


if __name__ == "__main__":
    _, command_name, place, *arguments = sys.argv
    sys.exit(answer(command_name, Path(place).resolve().parents[1], arguments))
