"""What became of a system's trainings: facts of those that ended, failures of those that did not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from .run_folder import seed_of
from .training_facts import TrainingFacts, read_facts


@dataclass(frozen=True)
class Outcome:
    """One system.

    Attributes:
        name: of the system.
        facts: of its trainings whose test set was translated; None if none was.
        failures: seed to what went wrong.
    """

    name: str
    facts: TrainingFacts | None = None
    failures: dict[int, str] = field(default_factory=dict)


def read_outcome(name: str, folder: Path, *, seeds: Collection[int] | None = None) -> Outcome:
    """One system from its folder in a run; nothing is known of one that is not there.

    Args:
        name: of the system.
        folder: has a folder ``seed-N`` for each training.
        seeds: those that count; None for all.

    Raises:
        FileError: if a log is damaged.
        ValueError: if its seeds are models of different size.
    """
    found = [path for path in folder.glob("seed-*") if seeds is None or seed_of(path / "train.log") in seeds]
    failures = {
        seed_of(path / "failure"): (path / "failure").read_text(encoding="utf-8").strip()
        for path in found
        if (path / "failure").is_file()
    }
    ended = [path / "train.log" for path in found if (path / "test.detokenized").is_file()]
    logs = sorted((log for log in ended if log.is_file()), key=seed_of)
    return Outcome(name, read_facts(name, logs) if logs else None, dict(sorted(failures.items())))
