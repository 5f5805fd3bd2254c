"""An experiment on a cluster, with stand-ins for Slurm's commands that run jobs on this machine."""

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.recipes import needs_tools, write_corpus
from tests.commands import command_line, environment
from tests.runs.slurm import living, states, write_commands
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, needs_tools]

#: The text of an experiment without systems.
DATA = "pair: fr-en\nsegmentation: word:40\ntokenizer: none\n"


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """The folder of the commands, which are on PATH."""
    commands = write_commands(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    return tmp_path / "slurm"


def start(tmp_path):
    """An experiment that makes data, on the cluster."""
    write_corpus(tmp_path / "corpus")
    (tmp_path / "data.yaml").write_text(DATA)
    pauses = "slurm-init-seconds-before-status-checks: 1\nmax-status-checks-per-second: 1\n"
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "config.yaml").write_text(f"executor: slurm\njobs: 20\nslurm-status-command: squeue\n{pauses}")
    arguments = (tmp_path / "data.yaml", f"corpus={tmp_path / 'corpus'}", f"out={tmp_path / 'out'}")
    line = command_line("recurrent-mt", "experiment", *arguments, "--profile", profile)
    return subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), cwd=tmp_path
    )


def test_an_experiment_ends_and_shows_every_job_where_there_is_no_accounting(cluster, tmp_path):
    process = start(tmp_path)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert set(states(cluster).values()) == {"COMPLETED"} and len(states(cluster)) == 10
    assert "[16/16] Binarizing: " in said and said.count("] Preparing the words of ") == 6
    assert (tmp_path / "out" / "data" / "train.fr-en.fr.bin").exists()


def test_sigterm_ends_an_experiment_and_all_its_jobs(cluster, tmp_path):
    (cluster / "command").write_text(f"exec {sys.executable} -c 'import time; time.sleep(600)'")
    process = start(tmp_path)
    wait_until(lambda: len(list((cluster / "jobs").glob("*.process"))) >= 2, process)
    # As `timeout` and shells do: once to the process, and once to its group.
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate()
    assert process.returncode == 1 and "stopped; rerun the same command to resume" in said
    assert "Traceback" not in said
    assert "CANCELLED" in states(cluster).values()
    wait_until(lambda: not living(cluster))


def test_what_the_cluster_does_not_take_is_named(cluster, tmp_path):
    # Not merely removed: a machine may have one of its own.
    (cluster / "bin" / "sinfo").write_text("#!/bin/sh\necho no such cluster >&2\nexit 1\n")
    process = start(tmp_path)
    said, _ = process.communicate()
    assert process.returncode == 1 and not states(cluster)
    assert "Preparing the words of train.fr: failed" in said
    assert "Job submission failed with exception: Failed to run sinfo" in said and "no such cluster" in said
