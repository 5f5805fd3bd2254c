"""Snakemake's events as JSON, one a line, on standard output: what `recurrent-mt experiment` shows progress from.

Snakemake finds logger plugins by this package's name (``--logger events``), on the path that the command sets.
"""

from __future__ import annotations

import json
import sys
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase

from .slurm import repair_executor

FIELDS = ("jobid", "job_id", "jobs", "rule_name", "rule_msg", "wildcards", "log", "shellcmd", "stats", "done", "total")
#: What the executor for Slurm says of the name that all its jobs get.
SLURM_RUN = "SLURM run ID: "


class LogHandler(LogHandlerBase):
    """Writes what has a name among Snakemake's events, and errors."""

    def __post_init__(self) -> None:
        """Snakemake has loaded its executors by now."""
        repair_executor()

    def emit(self, record: LogRecord) -> None:
        event = getattr(record, "event", None)
        message = {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.getMessage().startswith(SLURM_RUN):
            event, message = "cluster_run", {"name": record.getMessage().removeprefix(SLURM_RUN)}
        if event is None and record.levelname not in ("ERROR", "CRITICAL"):
            return
        if event in (None, "error"):
            message["text"] = record.getMessage()
        sys.stdout.write(json.dumps({"event": str(event or "error"), **message}, default=str) + "\n")
        sys.stdout.flush()

    @property
    def writes_to_stream(self) -> bool:
        """Instead of Snakemake's own lines on the terminal."""
        return True

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True

    @property
    def has_formatter(self) -> bool:
        return True

    @property
    def needs_rulegraph(self) -> bool:
        return False
