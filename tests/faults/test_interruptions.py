"""Training is stopped at random moments in three ways; the same call again must reach the same result as without the
stop."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest
import torch

from tests.cli import toy
from tests.faults.small_disk import SmallDisk
from tests.faults.training_process import TrainingProcess, train_command

pytestmark = pytest.mark.slow

UPDATES = 150
FAULTS = ["kill"] * 7 + ["terminate"] * 6 + ["full disk"] * 7


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The synthetic corpus, small, binarized: a few epochs for these updates."""
    folder = tmp_path_factory.mktemp("embedded")
    sizes = ("--train", 800, "--valid", 20, "--test", 20, "--max-words", 12)
    toy.run("recurrent-mt", "synthetic-corpus", "--out", folder / "text", *sizes)
    toy.preprocess(folder / "text", folder / "bin", "--nwordssrc", 3000, "--nwordstgt", 3000)
    return folder / "bin"


@pytest.fixture
def disk(tmp_path):
    small = SmallDisk(tmp_path / "disk")
    yield small
    small.unmount()


def command(data: Path, save: Path) -> list[str]:
    overrides = [
        *(f"task.data={data}", "task.source_lang=src", "task.target_lang=tgt", f"optimization.max_update={UPDATES}"),
        f"checkpoint.save_dir={save}",
    ]
    return train_command(overrides=overrides)


def last_update(save: Path) -> int:
    """Of the last checkpoint, 0 without one; every checkpoint of the folder must load."""
    updates = {path.name: torch.load(path)["optimizer_history"][-1]["num_updates"] for path in save.glob("*.pt")}
    return updates.get("checkpoint_last.pt", 0)


def interrupt(training: TrainingProcess, fault: str, disk: SmallDisk, *, size: int, share: float) -> None:
    """Stops the training, in a full disk's case when it writes checkpoints of this size, and looks how it ends."""
    if fault == "kill":
        assert training.kill() == -signal.SIGKILL
    elif fault == "terminate":
        training.process.send_signal(signal.SIGTERM)
        assert training.wait() == 128 + signal.SIGTERM, training.text
        assert "SIGTERM: training stops here" in training.text and "Traceback" not in training.text
    else:
        while training.process.poll() is None:
            disk.fill(training.process.pid, size, share)
            time.sleep(0.01)
        assert training.wait() == 1
        disk.empty()
        assert disk.message in training.text and "was not written" in training.text


def test_twenty_interruptions_change_nothing(data, disk, tmp_path):
    undisturbed = TrainingProcess(command(data, disk.folder / "undisturbed"), tmp_path / "undisturbed.log")
    assert undisturbed.wait() == 0, undisturbed.text
    generator = random.Random(2014)
    faults = generator.sample(FAULTS, len(FAULTS))
    size = (disk.folder / "undisturbed" / "checkpoint_last.pt").stat().st_size
    save, reached, losses = disk.folder / "disturbed", 0, {}
    call = command(data, save)
    for number, fault in enumerate(faults):
        training = TrainingProcess(call, tmp_path / f"{number}.log")
        training.wait_for_update(reached + generator.randint(1, 9))
        time.sleep(generator.uniform(0, 0.1))
        assert training.process.poll() is None, training.text
        interrupt(training, fault, disk, size=size, share=generator.random())
        losses |= training.losses()
        before, reached = reached, last_update(save)
        assert reached >= before, f"interruption {number}, {fault}: back from update {before} to {reached}"
        print(f"{number + 1}: {fault} at update {max(training.losses())}, last checkpoint {reached}")
    training = TrainingProcess(call, tmp_path / "end.log")
    assert training.wait() == 0, training.text
    assert {**losses, **training.losses()} == undisturbed.losses()
    assert len(undisturbed.losses()) == UPDATES
    for name in ("checkpoint_last.pt", "checkpoint_best.pt"):
        expected = torch.load(disk.folder / "undisturbed" / name)["model"]
        model = torch.load(save / name)["model"]
        assert model.keys() == expected.keys()
        assert all(torch.equal(model[key], expected[key]) for key in expected), name
    again = TrainingProcess(call, tmp_path / "again.log")
    assert again.wait() == 0 and not again.losses() and "nothing is left to train" in again.text
