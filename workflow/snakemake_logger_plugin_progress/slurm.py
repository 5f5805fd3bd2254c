"""What Snakemake and its executors get wrong on a cluster with Slurm.

That of Slurm, version 2.8.0, leaves out nodes that it takes for failed. What starts the command within a job, version
0.6.1 of another executor, forgets where Slurm's configuration is. Snakemake 9.27.1 may hang at SIGTERM.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from snakemake.scheduling.job_scheduler import JobScheduler


class NamedNodes(set[str]):
    """The nodes that a user has named to be left out, to which the executor can add none.

    It would add, at any moment, what sacct says of a job that begins anew: "None assigned", which sbatch does not take,
    or the node where the job is now. Slurm itself sends nothing to a node that is down.
    """

    def add(self, name: str) -> None:
        pass


def repair_executor() -> None:
    """Wraps a method of the executor, if Snakemake has loaded it; a second call changes nothing."""
    executor = getattr(sys.modules.get("snakemake_executor_plugin_slurm"), "Executor", None)
    if executor is None or hasattr(executor.run_jobs, "__wrapped__"):
        return
    run_jobs = executor.run_jobs

    @functools.wraps(run_jobs)
    def run_anywhere(self: Any, jobs: Sequence[Any]) -> None:
        self._failed_nodes = NamedNodes(self._failed_nodes)
        run_jobs(self, jobs)

    executor.run_jobs = run_anywhere


def keep_configuration() -> None:
    """In a job, `srun` gets ``SLURM_CONF``, which the executor takes out of its environment; elsewhere, a no-op."""
    steps = sys.modules.get("snakemake_executor_plugin_slurm_jobstep")
    place = os.environ.get("SLURM_CONF")
    if steps is None or place is None:
        return

    def start(*words: Any, env: Mapping[str, str], **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(*words, env={**env, "SLURM_CONF": place}, **options)

    setattr(steps, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": start}))  # noqa: B010, of a module


def repair_scheduler() -> None:
    """At SIGTERM, Snakemake takes a lock that its main thread may hold, and does so in that thread: it would hang.

    Slurm sends the signal to every process of a job; what hangs outlives the job where Slurm looks for children only,
    and the next call waits for it. Now a thread of its own takes the lock. A second call changes nothing.
    """
    exit_gracefully = JobScheduler.exit_gracefully
    if hasattr(exit_gracefully, "__wrapped__"):
        return

    @functools.wraps(exit_gracefully)
    def exit_later(self: JobScheduler, *arguments: Any) -> None:
        threading.Thread(target=exit_gracefully, args=(self, *arguments), daemon=True).start()

    setattr(JobScheduler, "exit_gracefully", exit_later)  # noqa: B010, of a class
