"""What a person sees of a running experiment: a line a job, and how far each training has come.

Snakemake finds logger plugins by this package's name (``--logger progress``), on the path that the command sets.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from logging import LogRecord
from pathlib import Path
from types import FrameType
from typing import Any

import psutil  # before a signal comes: an import that a second one interrupts is not whole
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from recurrent_mt.runs.folder import OUTCOME
from recurrent_mt.runs.outcomes import KEPT, Outcome, Status, read_end, read_outcome
from recurrent_mt.runs.train_log import read_progress

#: The rule whose log says how far it has come.
TRAINING = "train"
SECONDS_BETWEEN_READINGS = 1.0
#: What Slurm's executor says when it begins.
RUN_ID = "SLURM run ID: "
SHELLS = ("bash", "sh")
#: Without a terminal, a training is reported when it has come so much further.
UPDATES_BETWEEN_LINES = 100


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """What the command says of the trainings."""

    limit: int | None = field(default=None, metadata={"help": "updates that a training ends at", "type": int})


class LogHandler(LogHandlerBase):
    """Prints events of Snakemake, each in a line, and below them the progress of trainings."""

    def __post_init__(self) -> None:
        """This is Snakemake's main thread."""
        self.jobs: dict[int, LogRecord] = {}
        self.shown: dict[int, int] = {}  # the last update that was reported
        self.errors: list[str] = []
        self.finished = self.total = self.drawn = 0
        self.out = sys.stdout
        self.live = self.out.isatty() and os.environ.get("TERM") != "dumb"
        self.ended, self.writing = threading.Event(), threading.Lock()
        self.stopped = False
        self.cluster_run = ""  # the name of all jobs on a cluster
        self.parent = os.getppid()
        if not self.common_settings.dryrun:
            signal.signal(signal.SIGINT, self.stop)
            threading.Thread(target=self.watch, daemon=True).start()

    writes_to_stream = property(lambda self: True)
    writes_to_file = property(lambda self: False)
    has_filter = property(lambda self: True)
    has_formatter = property(lambda self: True)
    needs_rulegraph = property(lambda self: False)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Ends all jobs; those on a cluster, Snakemake cancels itself. What ends after the signal has not failed.

        A second one, from a terminal or from `timeout`, does not interrupt Snakemake while it cancels its jobs.
        """
        if not self.stopped:
            self.stopped = True
            if not self.cluster_run:
                end_jobs()
            signal.default_int_handler(number, frame)

    def emit(self, record: LogRecord) -> None:
        # Snakemake would send no further event after an exception.
        try:
            self.take(record)
        except Exception:
            self.handleError(record)

    def take(self, record: LogRecord) -> None:
        """Shows what an event of Snakemake's tells."""
        if self.stopped:
            return
        event: Any = record
        match str(getattr(record, "event", None)):
            case "run_info":
                self.total = int((event.stats or {}).get("total", 0))
            case "job_info":
                self.start(event)
            case "job_finished":
                self.finish(event.job_id)
            case "job_error":
                self.fail(event)
            case _ if record.getMessage().startswith(RUN_ID):
                self.cluster_run = record.getMessage().removeprefix(RUN_ID)
            case _ if record.levelname in ("ERROR", "CRITICAL"):
                self.errors.append(record.getMessage())

    def start(self, job: Any) -> None:
        """A job starts, or would in a dry run."""
        self.jobs[job.jobid] = job
        job.began, job.title = time.monotonic(), job.rule_msg or job.rule_name
        if self.common_settings.dryrun and job.shellcmd:
            self.say(f"\n== {job.title}\n  $ {job.shellcmd.strip()}")
        elif job.rule_name == TRAINING:
            self.say(f"{job.title}: begins (log: {Path(job.log[0]).absolute()})\n  $ {job.shellcmd.strip()}")

    def finish(self, number: int) -> None:
        """A job has ended: well, or with an outcome that says why not."""
        job: Any = self.jobs.pop(number, None)
        self.finished += 1
        if job is None or not job.shellcmd or self.common_settings.dryrun:
            return
        file = Path(job.output[0])
        outcome = (read_outcome(file) if file.name.endswith(OUTCOME) else None) or Outcome(Status.FINISHED)
        if outcome.failed:
            self.say(f"{job.title}: failed: {outcome.reason}", f"  The whole log: {Path(job.log[0]).absolute()}")
        elif outcome.status != Status.SKIPPED:
            seconds = time.monotonic() - job.began
            self.say(f"[{self.finished}/{max(self.total - 1, self.finished)}] {job.title}: {seconds:.0f} s")
        if job.rule_name == "limit_lengths" and (text := read_end(Path(job.log[0]), 1)):
            self.say(text)

    def fail(self, event: Any) -> None:
        """A job has failed: what a cluster says of it, and the end of its own log, or else what Snakemake has said."""
        job: Any = self.jobs.pop(event.jobid, None)
        if job is None:
            return
        log = Path(job.log[0]).absolute() if job.log else None
        end = read_end(log, KEPT) if log else ""
        lines = str(getattr(event, "rule_msg", None) or "").splitlines()
        lines += end.splitlines() or "\n".join(self.errors).splitlines()[-KEPT:]
        self.errors.clear()
        whole = [f"  The whole log: {log}"] if end else []
        self.say(f"{job.title}: failed", *(f"  | {line[:300]}" for line in lines if line), *whole)

    def say(self, *lines: str, drawn: int = 0) -> None:
        """Prints in place of the progress lines; the last ones drawn are taken off the terminal by the next call."""
        with self.writing:
            erase = f"\x1b[{self.drawn}F\x1b[J" if self.drawn else ""
            self.out.write(erase + "".join(f"{line}\n" for line in lines))
            self.out.flush()
            self.drawn = drawn

    def watch(self) -> None:
        """Reads the logs of running trainings; ends everything if the command that it belongs to was killed."""
        while not self.ended.wait(SECONDS_BETWEEN_READINGS):
            if os.getppid() != self.parent:
                os.kill(os.getpid(), signal.SIGINT)
                return
            self.show_progress()

    def show_progress(self) -> None:
        """One line for each running training: on a terminal always the same lines, otherwise one now and then."""
        lines = []
        for number, job in [*self.jobs.items()]:
            progress = read_progress(job.log[0], self.settings.limit) if job.rule_name == TRAINING else None
            if progress is None:
                continue
            update, text = progress[0], f"    {job.title}: {progress[1]}"
            if self.live:
                lines.append(text[: os.get_terminal_size(self.out.fileno()).columns - 1])
            elif update >= self.shown.get(number, -1) + UPDATES_BETWEEN_LINES:
                self.shown[number] = update - update % UPDATES_BETWEEN_LINES
                self.say(text)
        if self.live:
            self.say(*lines, drawn=len(lines))

    def close(self) -> None:
        """Says what Snakemake has said of no job, once: Python closes handlers again when it ends."""
        if self.ended.is_set():
            return
        self.ended.set()
        self.say()
        if self.errors and not self.stopped:
            self.say(*self.errors)
        elif self.common_settings.dryrun and not self.total and not self.errors:
            self.say("Everything is there: nothing is left to do.")
        self.errors.clear()
        if self.stopped and self.cluster_run:
            # Those too that the executor was submitting when it cancelled the others.
            subprocess.run(["scancel", "--name", self.cluster_run])
        super().close()


def end_jobs() -> None:
    """Asks everything that Snakemake has started here to end: a training then keeps where it is.

    Shells end with what they run, and are waited for before Snakemake gives the folder free.
    """
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.name() not in SHELLS:
                process.terminate()
