"""Two machines that train together are one process with twice the batches, and neither waits for a lost one forever.

The machines are network namespaces: real connections over a cable that can be cut, not a real network's delays.
"""

from __future__ import annotations

import signal
import time

import pytest

from tests.faults.shared_training import UPDATES, check_same, last_update, make_shards, overrides, train_alone
from tests.faults.training_process import TrainingProcess, train_script
from tests.faults.two_machines import TwoMachines

pytestmark = pytest.mark.slow

#: Seconds that a process waits for the other. They begin at the same time and share two processors.
TIMEOUT = 30
LOST = "has lost the other processes: one of them has ended, or a machine or the network has not answered for"


@pytest.fixture
def machines():
    try:
        two = TwoMachines()
    except OSError as error:
        pytest.skip(f"no network namespaces: {error}")
    yield two
    two.take_down()


def test_two_machines_are_one_with_twice_the_batches(machines, tmp_path):
    shards = make_shards(tmp_path)
    one = train_alone(shards, tmp_path)
    settings = overrides(shards, tmp_path / "two", update_freq=1)
    meeting = ("--nodes", "2", "--rendezvous", f"{machines.ADDRESS}:29500", "--timeout", str(TIMEOUT))

    def start(name: str) -> list[TrainingProcess]:
        calls = [train_script(*meeting, "--node-rank", str(rank), overrides=settings) for rank in (0, 1)]
        return [machines.start(rank, call, tmp_path / f"{name}{rank}.log") for rank, call in enumerate(calls)]

    def report(what: str, begin: float) -> None:
        print(f"{what} after {time.monotonic() - begin:.1f} s, last checkpoint {last_update(tmp_path / 'two')}")

    cut = start("cut")
    cut[0].wait_for_update(13)
    machines.cut()
    begin = time.monotonic()
    for rank, training in enumerate(cut):
        assert training.wait() == 1, training.text
        report(f"cable cut at update {max(cut[0].losses())}: machine {rank} ended", begin)
        assert f"process {rank} of 2 {LOST} {TIMEOUT} seconds (--heartbeat-timeout)" in training.text
        assert f"Timed out waiting {TIMEOUT}000ms" in training.text
    machines.mend()
    assert "machine 1, in this folder: " in cut[0].text and "GLOO_SOCKET_IFNAME=left" in cut[0].text
    assert "machine 0, in this folder: " in cut[1].text and "GLOO_SOCKET_IFNAME=right" in cut[1].text

    parts = [cut[0]]
    for victim, update in ((1, 18), (0, 25)):
        killed = start(f"killed{victim}-")
        killed[0].wait_for_update(update)
        machines.kill(victim)
        begin = time.monotonic()
        other = killed[1 - victim]
        assert other.wait() == 1, other.text
        report(f"machine {victim} killed at update {max(killed[0].losses())}: the other ended", begin)
        assert f"process {1 - victim} of 2 {LOST}" in other.text
        assert killed[victim].wait() == -signal.SIGKILL
        parts.append(killed[0])

    resumed = start("resumed")
    resumed[0].wait_for_update(32)
    machines.cut()
    time.sleep(1)
    assert max(resumed[0].losses()) < UPDATES, "it was over before"
    machines.mend()
    for training in resumed:
        assert training.wait() == 0, training.text
    parts.append(resumed[0])
    assert all(min(part.losses()) > 1 for part in parts[1:]), "one began anew"
    print(f"cable out for a second: no harm; {check_same(tmp_path, one, *parts)}")
