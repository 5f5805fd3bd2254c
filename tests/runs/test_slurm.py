"""An experiment on a cluster, with stand-ins for Slurm's commands that run jobs on this machine."""

import os
import signal
import subprocess
import sys
import threading
from types import ModuleType

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from recurrent_mt.runs.launcher import WORKFLOW, status_options
from tests.cli.recipes import needs_tools, write_corpus
from tests.commands import command_line, environment
from tests.runs.slurm import living, states, write_commands
from tests.waiting import wait_until
from workflow.snakemake_logger_plugin_progress.slurm import keep_configuration, repair_executor, repair_scheduler

OURS = WORKFLOW / "profiles" / "slurm"
#: The text of an experiment without systems.
DATA = "pair: fr-en\nsegmentation: word:40\ntokenizer: none\n"


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Puts the commands on PATH."""

    def make(*, accounting):
        commands = write_commands(tmp_path / "slurm", accounting=accounting)
        monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
        return tmp_path / "slurm"

    return make


def write_profile(folder, text):
    folder.mkdir()
    (folder / "config.yaml").write_text(text)
    return folder


def test_a_cluster_with_accounting_can_say_what_becomes_of_jobs(cluster):
    cluster(accounting=True)
    assert status_options(OURS) == ["--slurm-status-attempts", "8640", "--max-status-checks-per-second", "0.1"]


def test_one_without_is_refused(cluster, monkeypatch, tmp_path):
    cluster(accounting=False)
    with pytest.raises(RuntimeError, match=r"no accounting.*slurm-status-command: squeue in .*config\.yaml"):
        status_options(OURS)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="sacct does not answer: call this on a machine from which Slurm takes jobs"):
        status_options(OURS)


def test_what_a_profile_says_stays(cluster, tmp_path):
    cluster(accounting=False)
    said = "slurm-status-command: squeue\nslurm-status-attempts: 3\n"
    asked = status_options(write_profile(tmp_path / "own", f"executor: slurm\n{said}"))
    assert asked == ["--max-status-checks-per-second", "0.1"]
    assert status_options(write_profile(tmp_path / "lsf", "executor: lsf\n")) == []
    assert status_options(tmp_path / "in the folder of the call, or Snakemake's own") == []


def start(tmp_path):
    """An experiment that makes data, on the cluster."""
    write_corpus(tmp_path / "corpus")
    (tmp_path / "data.yaml").write_text(DATA)
    pauses = "slurm-init-seconds-before-status-checks: 1\nmax-status-checks-per-second: 1\n"
    status = f"slurm-status-command: squeue\n{pauses}"
    profile = write_profile(tmp_path / "profile", f"executor: slurm\njobs: 20\n{status}")
    arguments = (tmp_path / "data.yaml", f"corpus={tmp_path / 'corpus'}", f"out={tmp_path / 'out'}")
    line = command_line("recurrent-mt", "experiment", *arguments, "--profile", profile)
    return subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), cwd=tmp_path
    )


@pytest.mark.slow
@needs_tools
def test_an_experiment_ends_and_shows_every_job_where_there_is_no_accounting(cluster, tmp_path):
    folder = cluster(accounting=False)
    process = start(tmp_path)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert set(states(folder).values()) == {"COMPLETED"} and len(states(folder)) == 10
    assert "[16/16] Binarizing: " in said and said.count("] Preparing the words of ") == 6
    assert (tmp_path / "out" / "data" / "train.fr-en.fr.bin").exists()


@pytest.mark.slow
@needs_tools
def test_sigterm_ends_an_experiment_and_all_its_jobs(cluster, tmp_path):
    folder = cluster(accounting=False)
    (folder / "command").write_text(f"exec {sys.executable} -c 'import time; time.sleep(600)'")
    process = start(tmp_path)
    wait_until(lambda: len(list((folder / "jobs").glob("*.process"))) >= 2, process)
    # As `timeout` and shells do: once to the process, and once to its group.
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate()
    assert process.returncode == 1 and "stopped; rerun the same command to resume" in said
    assert "Traceback" not in said
    assert "CANCELLED" in states(folder).values()
    wait_until(lambda: not living(folder))


@pytest.mark.slow
@needs_tools
def test_what_the_cluster_does_not_take_is_named(cluster, tmp_path):
    folder = cluster(accounting=False)
    # Not merely removed: a machine may have one of its own.
    (folder / "bin" / "sinfo").write_text("#!/bin/sh\necho no such cluster >&2\nexit 1\n")
    process = start(tmp_path)
    said, _ = process.communicate()
    assert process.returncode == 1 and not states(folder)
    assert "Preparing the words of train.fr: failed" in said
    assert "Job submission failed with exception: Failed to run sinfo" in said and "no such cluster" in said


def test_no_node_is_excluded_because_a_job_of_it_began_anew(monkeypatch):
    """Also when that is noticed while another job is being submitted, which takes seconds, in a thread of its own."""

    class Executor:
        def __init__(self):
            self._failed_nodes = {"slow1", "slow2"}

        def run_jobs(self, jobs):
            for job in jobs:
                self.run_job(job)

        def run_job(self, job):
            self._failed_nodes.add("None assigned")
            job.extend(sorted(self._failed_nodes))

    module = ModuleType("snakemake_executor_plugin_slurm")
    module.Executor = Executor
    monkeypatch.setitem(sys.modules, module.__name__, module)
    repair_executor()
    executor, submitted, later = Executor(), [], []
    executor.run_jobs([submitted])
    executor.run_jobs([later])
    assert submitted == later == ["slow1", "slow2"]


def test_a_job_finds_the_configuration_where_the_cluster_has_it(monkeypatch):
    """The executor of what runs in a job takes Slurm's variables out of its environment, but a few."""
    steps = ModuleType("snakemake_executor_plugin_slurm_jobstep")
    steps.subprocess = subprocess
    monkeypatch.setitem(sys.modules, steps.__name__, steps)
    monkeypatch.setenv("SLURM_CONF", "/opt/slurm.conf")
    keep_configuration()
    line = 'echo "$SLURM_CONF $OTHER"'
    started = steps.subprocess.Popen(line, shell=True, stdout=steps.subprocess.PIPE, env={"OTHER": "1"})
    assert started.communicate()[0] == b"/opt/slurm.conf 1\n"


def test_a_signal_to_stop_is_heard_while_the_scheduler_is_at_work(monkeypatch):
    """Python runs its handler in the thread that has the lock."""
    monkeypatch.setattr(JobScheduler, "exit_gracefully", JobScheduler.exit_gracefully)  # undone after the test
    repair_scheduler()
    scheduler = JobScheduler.__new__(JobScheduler)
    scheduler._lock, scheduler._open_jobs, scheduler._user_kill = threading.Lock(), threading.Semaphore(0), None
    with scheduler._lock:
        scheduler.exit_gracefully(signal.SIGTERM, None)
    scheduler._open_jobs.acquire()
    assert scheduler._user_kill == "graceful"
