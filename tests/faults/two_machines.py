"""Two machines and the cable between them, as the kernel's network namespaces; they share processors and disk."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from tests.faults.training_process import TrainingProcess
from tests.waiting import wait_until


class TwoMachines:
    """Machines 0 and 1. Each has a loopback interface and one end of the cable, and nothing leads anywhere else.

    Raises:
        OSError: if this user or this system can make no network namespaces (``ip netns`` of iproute2, root).
    """

    #: Of the first machine, for both.
    ADDRESS = "10.77.0.1"

    def __init__(self) -> None:
        self.names = [f"machine{rank}-{os.getpid()}" for rank in (0, 1)]
        #: Of the cable; unlike, as they may be between real machines.
        self.ends = ["left", "right"]
        try:
            for name in self.names:
                run_ip("netns", "add", name)
            (first, second), (left, right) = self.names, self.ends
            run_ip("link", "add", left, "netns", first, "type", "veth", "peer", "name", right, "netns", second)
            for rank, (name, end) in enumerate(zip(self.names, self.ends)):
                run_ip("-n", name, "address", "add", f"10.77.0.{rank + 1}/24", "dev", end)
                for interface in ("lo", end):
                    run_ip("-n", name, "link", "set", interface, "up")
        except OSError:
            self.take_down()
            raise

    def start(self, rank: int, command: list[str], log: Path) -> TrainingProcess:
        """A training on one of them."""
        return TrainingProcess(["ip", "netns", "exec", self.names[rank], *command], log)

    def cut(self) -> None:
        """Nothing that one of them sends arrives any more, and neither is told."""
        run_ip("-n", self.names[0], "link", "set", self.ends[0], "down")

    def mend(self) -> None:
        """Both reach each other again."""
        run_ip("-n", self.names[0], "link", "set", self.ends[0], "up")

    def kill(self, rank: int) -> None:
        """Ends everything that runs on one of them without a chance to do anything."""

        def is_empty() -> bool:
            processes = run_ip("netns", "pids", self.names[rank]).split()
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            return not processes

        wait_until(is_empty)

    def take_down(self) -> None:
        """Ends what runs on them, and removes them with the cable."""
        made = run_ip("netns", "list")
        for rank, name in enumerate(self.names):
            if name in made:
                self.kill(rank)
                run_ip("netns", "delete", name)


def run_ip(*words: str) -> str:
    """What ``ip`` prints.

    Raises:
        OSError: if it is not there, or fails.
    """
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
