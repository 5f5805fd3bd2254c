"""Waiting for what another process does, for as long as it takes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def wait_until(holds: Callable[[], T], process: subprocess.Popen | None = None, *, pause: float = 0.05) -> T:
    """What a condition returns once that is true, which a process that is given has to live to see.

    Without a deadline, as a machine may be as busy as it likes: what never comes ends at the limit that pyproject.toml
    sets for every test.
    """
    while not (found := holds()):
        assert process is None or process.poll() is None, "the process ended before"
        time.sleep(pause)
    return found


def written(log: Path) -> str:
    """What a log holds so far; nothing if there is none yet."""
    return log.read_text(errors="replace") if log.exists() else ""
