"""Progress of a long pass over text, on standard error."""

from __future__ import annotations

import sys
import time

_SECONDS = 5.0


class ProgressLine:
    """Prints a plain line now and then, which a log file can hold as well as a terminal."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._start = self._printed = time.monotonic()
        self._pairs = 0

    def update(self, pairs: int, share: float) -> None:
        """Counts more pairs done; ``share`` is how much of the input that makes, of 1."""
        self._pairs += pairs
        now = time.monotonic()
        if now - self._printed >= _SECONDS:
            self._printed = now
            self._print(f"{share:4.0%}", now)

    def finish(self) -> None:
        """Prints the last line."""
        self._print("done", time.monotonic())

    def _print(self, state: str, now: float) -> None:
        rate = self._pairs / max(now - self._start, 1e-9)
        print(f"{self._task}: {state}, {self._pairs:,} pairs, {rate:,.0f} a second", file=sys.stderr, flush=True)
