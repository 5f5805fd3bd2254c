"""How the steps of an experiment ended that may fail without stopping the others: trainings, translations.

Each leaves a file: its status in the first line, the reason of a failure in the second, then the end of its log; in the
last line, with what versions of the code a training ended.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from errno import EDQUOT, ENOSPC
from pathlib import Path

from ..text_files import FileError, write_text
from .folder import OUTCOME, seed_folder

#: 128 + the signals by which a person or a cluster stops a process: hangup, interrupt, termination.
STOPPED = (129, 130, 143)
KILLED = 137
#: What the system says in a log where a disk is full.
FULL_DISK = tuple(os.strerror(number).lower() for number in (ENOSPC, EDQUOT))
#: Bytes that are free on any other.
ROOM = 100_000
#: Lines at the end of a log that are looked through for a reason, and those that are kept.
READ, KEPT = 200, 15
#: How the line of the versions begins.
MADE_BY = "made by "
#: What is said of a training that ended before its versions were kept.
NOT_KEPT = "versions that were not kept"


class Status(StrEnum):
    """How a step ended."""

    FINISHED = "finished"
    DIVERGED = "diverged"
    FAILED = "failed"
    SKIPPED = "skipped"  # the training that it needs has not finished


class Reason(StrEnum):
    """The known reasons for which steps fail."""

    DIVERGED = "diverged: loss or gradient is not a number"
    OUT_OF_MEMORY = "out of memory"
    KILLED = "killed, most likely because memory ran out"
    LOST = "lost the other processes: one of them, or the network, was gone"


#: What a log says, in any case -> the reason.
SIGNS = {
    "FloatingPointError": Reason.DIVERGED,
    "gradients are Nan/Inf": Reason.DIVERGED,
    "out of memory": Reason.OUT_OF_MEMORY,
    "MemoryError": Reason.OUT_OF_MEMORY,
    "can't allocate memory": Reason.OUT_OF_MEMORY,
    # torchrun says much after it.
    "has lost the other processes": Reason.LOST,
}


@dataclass(frozen=True)
class Outcome:
    """How one step ended."""

    status: Status  # in one word
    reason: str = ""  # of a failure, in one line; empty without one
    log: str = ""  # the last lines of the log of a failure
    versions: str = ""  # of the code and its libraries, as of `describe_versions`; of trainings alone

    @property
    def failed(self) -> bool:
        """Whether it went wrong by itself."""
        return self.status in (Status.DIVERGED, Status.FAILED)

    def write(self, file: Path) -> None:
        made_by = f"{MADE_BY}{self.versions}" if self.versions else ""
        write_text(file, "".join(f"{line}\n" for line in (self.status, self.reason, self.log, made_by) if line))


def read_outcome(file: Path) -> Outcome | None:
    """Reads how a step ended; None if it has not.

    Raises:
        FileError: if the file is damaged.
    """
    if not file.is_file():
        return None
    first, *rest = file.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    try:
        # Earlier versions wrote the reason alone.
        status = Status(first.partition(":")[0])
    except ValueError as error:
        raise FileError(file, "not an outcome: remove it, and rerun the experiment") from error
    versions = rest.pop().removeprefix(MADE_BY) if rest and rest[-1].startswith(MADE_BY) else ""
    reason, *log = rest or [first if status == Status.DIVERGED else ""]
    return Outcome(status, reason, "\n".join(log), versions)


def was_interrupted(log: Path, status: int, *, start: int = 0) -> bool:
    """Whether a process was stopped from outside, or by a full disk: called again, it may go on, and has no outcome."""
    if not status or status in STOPPED:
        return bool(status)
    text = read_end(log, READ, start=start).lower()
    # What was said of it may not have had room, either.
    return any(sign in text for sign in FULL_DISK) or shutil.disk_usage(log.absolute().parent).free < ROOM


def judge(log: Path, status: int, *, start: int = 0) -> Outcome:
    """How a process ended, by its status and its log, of which it has written what follows ``start``."""
    if not status:
        return Outcome(Status.FINISHED)
    text = read_end(log, READ, start=start)
    end = "\n".join(text.splitlines()[-KEPT:])
    for sign, reason in SIGNS.items():
        if sign.lower() in text.lower():
            return Outcome(Status.DIVERGED if reason == Reason.DIVERGED else Status.FAILED, reason, end)
    last = text.rpartition("\n")[2][:300]
    own = f"failed with status {status}{f': {last}' if last else ''}"
    return Outcome(Status.FAILED, Reason.KILLED if status == KILLED else own, end)


def read_end(file: Path, lines: int, *, start: int = 0) -> str:
    """The last lines of a log, of what comes after a place in it; what is not text is shown as well as it can be."""
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            stream.seek(max(start, size - 20_000))
            text = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.rstrip().splitlines()[-lines:])


def read_versions(folder: Path, *, seeds: Iterable[int]) -> dict[int, str]:
    """The versions of a system's trainings that have finished, by seed, as of `describe_versions`."""
    outcomes = {seed: read_outcome(Path(seed_folder(folder, seed), OUTCOME)) for seed in sorted(seeds)}
    return {
        seed: outcome.versions or NOT_KEPT
        for seed, outcome in outcomes.items()
        if outcome is not None and outcome.status == Status.FINISHED
    }


def describe_mixtures(versions: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    """A note on each system whose seeds were trained with different versions."""
    for system, by_seed in versions.items():
        if len(set(by_seed.values())) > 1:
            each = (f"seed {seed} with {text}" for seed, text in by_seed.items())
            yield f"{system}: its seeds were trained with different versions, {'; '.join(each)}."


def summarize_versions(versions: Mapping[str, Mapping[int, str]]) -> str:
    """All versions that occur, in one line; each with its trainings if there are several."""
    trainings: dict[str, list[str]] = {}
    for system, by_seed in versions.items():
        for seed, text in by_seed.items():
            trainings.setdefault(text, []).append(f"{system} {seed}")
    if len(trainings) == 1:
        return next(iter(trainings))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in trainings.items())
