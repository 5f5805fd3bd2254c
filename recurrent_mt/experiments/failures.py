"""Why a training or a translation failed, in one line that stays beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..evaluation.learning_rates import Reason
from ..text_files import write_text
from .console import read_end

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
#: 128 + the signals by which a person or a cluster stops a job: hangup, interrupt, termination.
STOPPED = (129, 130, 143)
KILLED = 137
#: Of a log, what is looked through.
READ = 200


@dataclass(frozen=True)
class Failures:
    """What failed in a call, one title each.

    Attributes:
        trainings: that stay failed until they are to be tried again.
        jobs: that rerunning the same command tries again, such as a training that something outside has stopped.
    """

    trainings: Sequence[str] = ()
    jobs: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Tells whether anything failed."""
        return bool(self.trainings or self.jobs)

    def __str__(self) -> str:
        """For people, with what to do about it."""
        hints = {"--retry to try again": self.trainings, "rerun the same command to try again": self.jobs}
        return "; ".join(f"{'; '.join(titles)} ({hint})" for hint, titles in hints.items() if titles)


def find_reason(log: Path, status: int | None = None, *, start: int = 0) -> str:
    """Why the process that wrote a log failed: a `Reason`, or in its own words.

    Args:
        log: of the process.
        status: that it ended with; None if it is not known.
        start: where in the log the process began.
    """
    text = read_end(log, READ, start=start)
    for sign, reason in SIGNS.items():
        if sign.lower() in text.lower():
            return reason
    if status == KILLED:
        return Reason.KILLED
    last = text.splitlines()[-1] if text else ""
    ended = f"failed with status {status}" if status is not None else "failed"
    return f"{ended}: {last[:300]}" if last else ended


def record_failure(folder: Path, reason: str) -> None:
    """Leaves the reason where tables and the next call look for it."""
    write_text(folder / "failure", f"{reason}\n")


def read_failure(folder: Path) -> str | None:
    """Reads why a training failed; None if it did not."""
    file = folder / "failure"
    return file.read_text(encoding="utf-8").strip() if file.is_file() else None
