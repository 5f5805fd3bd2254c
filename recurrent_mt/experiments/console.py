"""What a person sees of a running experiment: a line a job, and how far each training has come."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from .progress import TrainingProgress, read_progress

#: Rules whose logs say how far they have come.
TRAININGS = ("train", "try_rate")
SECONDS_BETWEEN_READINGS = 1.0
#: Without a terminal, a training is reported when it has come so much further.
UPDATES_BETWEEN_LINES = 100
SHOWN_OF_A_LOG = 15


@dataclass
class Job:
    """One job of the workflow.

    Attributes:
        title: for people.
        rule: of the workflow.
        wildcards: of the rule.
        logs: its own.
        command: its command line.
        began: by `time.monotonic`.
        shown: the last update that was reported.
    """

    title: str
    rule: str
    wildcards: Mapping[str, str]
    logs: list[str]
    command: str
    began: float
    shown: int = -1


@dataclass
class Console:
    """Follows the events of one workflow.

    Attributes:
        folder: that paths of logs start from.
        limit: updates that a training ends at; None if it ends by something else.
        out: where lines go.
        plan_only: whether nothing is run: every command is printed.
        jobs: by their number.
        failed: jobs that have.
        finished: how many have ended well.
        total: how many there are.
        cluster_run: the name that all jobs on a cluster have; None before one is there.
    """

    folder: Path
    limit: int | None = None
    out: TextIO = field(default_factory=lambda: sys.stdout)
    plan_only: bool = False
    jobs: dict[int, Job] = field(default_factory=dict)
    failed: list[Job] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    finished: int = 0
    total: int = 0
    cluster_run: str | None = None

    def __post_init__(self) -> None:
        """Starts with no job and no progress line."""
        self.lock = threading.Lock()
        self.drawn = 0
        self.live = self.out.isatty() and os.environ.get("TERM") != "dumb"

    def handle(self, event: Mapping[str, Any]) -> None:
        """Handles one event of Snakemake."""
        with self.lock:
            match event["event"]:
                case "run_info":
                    self.total = int((event.get("stats") or {}).get("total", 0))
                case "job_info":
                    self.add(event)
                case "job_finished":
                    self.finish(event["job_id"])
                case "job_error":
                    self.fail(event)
                case "cluster_run":
                    self.cluster_run = str(event["name"])
                case "error":
                    self.errors.append(str(event.get("text", "")))

    def add(self, event: Mapping[str, Any]) -> None:
        """Records a job that starts, or would in a dry run."""
        title = event.get("rule_msg") or event["rule_name"]
        wildcards, logs = event.get("wildcards") or {}, event.get("log") or []
        command = str(event.get("shellcmd") or "").strip()
        job = Job(title, event["rule_name"], wildcards, list(logs), command, time.monotonic())
        self.jobs[event["jobid"]] = job
        if self.plan_only and command:
            self.say(f"\n== {title}\n  $ {command}")
        elif job.rule in TRAININGS:
            self.say(f"{title}: begins (log: {self.folder / job.logs[0]})\n  $ {command}")

    def finish(self, number: int) -> None:
        """Records a job that has succeeded."""
        job = self.jobs.pop(number, None)
        self.finished += 1
        if job and job.command and not self.plan_only:
            seconds = time.monotonic() - job.began
            self.say(f"[{self.finished}/{max(self.total - 1, self.finished)}] {job.title}: {seconds:.0f} s")
            self.show_notes(job)

    def show_notes(self, job: Job) -> None:
        """What a step has to say about the text."""
        if job.rule == "limit_lengths" and job.logs:
            text = read_end(self.folder / job.logs[0], 1)
            if text:
                self.say(text)

    def fail(self, event: Mapping[str, Any]) -> None:
        """A job has failed: what a cluster says of it, and the end of its own log, or else what the engine has said."""
        job = self.jobs.pop(event["jobid"], None)
        if job is None:
            return
        self.failed.append(job)
        log = self.folder / job.logs[0] if job.logs else None
        end = read_end(log, SHOWN_OF_A_LOG) if log else ""
        whole = [f"  The whole log: {log}"] if end else []
        shown = str(event.get("rule_msg") or "").splitlines()
        shown += end.splitlines() or "\n".join(self.errors).splitlines()[-SHOWN_OF_A_LOG:]
        self.errors.clear()
        self.say("\n".join([f"{job.title}: failed", *(f"  | {line[:300]}" for line in shown if line), *whole]))

    def say(self, text: str) -> None:
        """Prints a message above the progress lines."""
        self.erase()
        self.out.write(text + "\n")
        self.out.flush()

    def erase(self) -> None:
        """Takes the progress lines off the terminal."""
        if self.drawn:
            self.out.write(f"\x1b[{self.drawn}F\x1b[J")
            self.drawn = 0

    def watch(self, stop: threading.Event) -> None:
        """Reads the logs of running trainings until told to stop."""
        while not stop.wait(SECONDS_BETWEEN_READINGS):
            with self.lock:
                self.show_progress()
        with self.lock:
            self.erase()
            self.out.flush()

    def show_progress(self) -> None:
        """One line for each running training: on a terminal always the same lines, otherwise one now and then."""
        lines = []
        for job in self.jobs.values():
            if job.rule not in TRAININGS:
                continue
            progress = read_progress(self.folder / job.logs[0])
            if progress is None:
                continue
            text = f"    {job.title}: {describe(progress, self.limit)}"
            if self.live:
                lines.append(text[: (os.get_terminal_size(self.out.fileno()).columns or 80) - 1])
            elif progress.update >= job.shown + UPDATES_BETWEEN_LINES:
                job.shown = progress.update - progress.update % UPDATES_BETWEEN_LINES
                self.say(text)
        if self.live:
            self.erase()
            self.out.write("".join(f"{line}\n" for line in lines))
            self.drawn = len(lines)
            self.out.flush()


def describe(progress: TrainingProgress, limit: int | None) -> str:
    """Describes the state of a training in one line."""
    of = f"/{limit:,}" if limit else ""
    parts = [
        f"update {progress.update:,}{of}",
        f"loss {progress.loss:.3f}",
        f"{progress.words_per_second:,.0f} words/s",
    ]
    if limit and progress.updates_per_second:
        left = (limit - progress.update) / progress.updates_per_second
        parts.append(f"{left / 60:.0f} min left" if left >= 90 else f"{max(left, 0):.0f} s left")
    return ", ".join(parts)


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
