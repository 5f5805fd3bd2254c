"""How far a training has come, by the end of its log."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

REPORT = re.compile(r"\| train_inner \| (\{.*\})$", re.MULTILINE)
#: At the end of a log, more than the reports of the last updates.
END = 20_000


@dataclass(frozen=True)
class TrainingProgress:
    """The last report of a training.

    Attributes:
        update: number of the last update reported.
        loss: over the last log interval.
        words_per_second: target tokens.
        updates_per_second: as fairseq counts them; 0 if it does not.
    """

    update: int
    loss: float
    words_per_second: float
    updates_per_second: float


def read_progress(log: Path) -> TrainingProgress | None:
    """The last report in a log; None while there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - END))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return None
    for match in reversed(list(REPORT.finditer(text))):
        try:
            report = json.loads(match[1])
            speed, pace = float(report.get("wps", 0)), float(report.get("ups", 0))
            return TrainingProgress(int(report["num_updates"]), float(report["loss"]), speed, pace)
        except (ValueError, KeyError, TypeError):
            continue
    return None
