"""A training run next to the test, started like scripts/train.sh does, that can be stopped at an update."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli import toy
from tests.waiting import wait_until

REPORT = re.compile(r"\| train_inner \| (\{.*\})$")
#: A small RNNsearch with dropout, so that the seeds of the updates matter too.
MODEL = [
    *("model.encoder_embed_dim=32", "model.encoder_hidden_size=32", "model.decoder_embed_dim=32"),
    *("model.decoder_hidden_size=32", "model.decoder_out_embed_dim=32", "model.dropout=0.2"),
]
SCHEDULE = [
    *("dataset.batch_size=20", "checkpoint.save_interval_updates=3", "checkpoint.keep_interval_updates=1"),
    *("checkpoint.no_epoch_checkpoints=true", "common.log_format=json", "common.log_interval=1"),
]


def train_script(*options: str, overrides: list[str]) -> list[str]:
    """A call of scripts/train.sh with this environment.

    Args:
        options: of the script, before the configuration.
        overrides: of the configuration, ``KEY=VALUE``.
    """
    script, configuration = toy.REPOSITORY / "scripts/train.sh", toy.REPOSITORY / "configs/rnnsearch-30-small.yaml"
    # Each key once: the last one counts.
    settings = dict(pair.split("=", 1) for pair in (*MODEL, *SCHEDULE, *overrides))
    given = [f"{key}={value}" for key, value in settings.items()]
    return ["env", f"VENV={sys.prefix}", "SETUP=no", "bash", str(script), *options, str(configuration), *given]


def train_command(*options: str, overrides: list[str]) -> list[str]:
    """The command that `train_script` ends in: it replaces itself by it."""
    script = train_script("--dry-run", *options, overrides=overrides)
    shown = subprocess.run(script, check=True, capture_output=True, text=True, cwd=toy.REPOSITORY)
    return shlex.split(shown.stdout.rpartition("  $ ")[2])


class TrainingProcess:
    """A training, in a process group of its own.

    Args:
        command: to run.
        log: where it writes what it says.
    """

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                command,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                cwd=toy.REPOSITORY,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        """What the process has said so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def losses(self) -> dict[int, float]:
        """The loss of each update reported so far."""
        reports = (REPORT.search(line) for line in self.text.splitlines())
        stats = [json.loads(match[1]) for match in reports if match]
        return {int(entry["num_updates"]): float(entry["loss"]) for entry in stats}

    def wait_for_update(self, update: int) -> None:
        """Returns when this update, or a later one, has been reported, or the process has ended."""
        wait_until(lambda: max(self.losses(), default=0) >= update or self.process.poll() is not None, pause=0.01)

    def wait(self) -> int:
        """The exit status, once whatever the process started is gone too."""
        try:
            status = self.process.wait()
            wait_until(lambda: not self.is_running_group())
        except BaseException:
            self.kill()
            raise
        return status

    def is_running_group(self) -> bool:
        """Whether anything of the process group is left."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> int:
        """Ends the process and all that it started without a chance to do anything."""
        os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()
