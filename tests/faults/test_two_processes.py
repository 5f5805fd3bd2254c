"""Two gloo processes compared with one with ``--update-freq 2``; one is killed along the way."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.faults.shared_training import check_same, last_update, make_shards, overrides, train_alone
from tests.faults.training_process import TrainingProcess, train_command

pytestmark = pytest.mark.slow


def workers(training: TrainingProcess) -> list[int]:
    """The processes of a torchrun that train, in the order of their ranks."""
    pid = training.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ranks = {}
    for child in children:
        environment = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        ranks |= {int(entry[5:]): int(child) for entry in environment if entry.startswith(b"RANK=")}
    return [ranks[rank] for rank in sorted(ranks)]


def test_two_processes_one_killed_are_one_with_twice_the_batches(tmp_path):
    shards = make_shards(tmp_path)
    one = train_alone(shards, tmp_path)
    call = train_command("--processes", "2", overrides=overrides(shards, tmp_path / "two", update_freq=1))

    killed = TrainingProcess(call, tmp_path / "killed.log")
    killed.wait_for_update(13)
    _, second = workers(killed)
    os.kill(second, signal.SIGKILL)
    begin = time.monotonic()
    assert killed.wait() != 0
    seconds = time.monotonic() - begin
    assert "Signal 9 (SIGKILL) received by PID" in killed.text and str(second) in killed.text
    assert re.search(rf"rank\s*: 1 \(local_rank: 1\)\s+exitcode\s*: -9 \(pid: {second}\)", killed.text)
    assert last_update(tmp_path / "two") >= 12

    resumed = TrainingProcess(call, tmp_path / "resumed.log")
    assert resumed.wait() == 0, resumed.text
    assert min(resumed.losses()) > 12, "it began anew"
    print(f"killed: ended after {seconds:.1f} s; {check_same(tmp_path, one, killed, resumed)}")
