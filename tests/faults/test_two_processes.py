"""Two gloo processes compared with one with ``--update-freq 2``, over sharded data; one is killed along the way.

Update n of either run is made of batches 2n and 2n + 1: fairseq deals them out to the processes in turn, or hands two
of them to one process. So the gradients are sums of the same two terms, and what the processes do to them besides is to
halve and to double; with more processes the order of the sum, and so its rounding, would be another. Dropout would make
them differ by more: each process draws from the seed of the update, and one process draws for its second batch what
comes after the first.
"""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
import torch

from tests.cli import toy
from tests.faults.training_process import TrainingProcess, train_command

pytestmark = pytest.mark.slow

UPDATES = 40
#: Of losses from 10 down to 6: the log rounds them to 0.001, and may round two that are nearly equal apart.
LOSS_TOLERANCE = 0.002
#: Measured: 0, bit for bit.
PARAMETER_TOLERANCE = 1e-6


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """The synthetic corpus, small, sentence n in shard n modulo 2, as the workflow deals it out."""
    folder = tmp_path_factory.mktemp("shards")
    sizes = ("--train", 800, "--valid", 20, "--test", 20, "--max-words", 12)
    toy.run("recurrent-mt", "synthetic-corpus", "--out", folder / "text", *sizes)
    for shard in (0, 1):
        (folder / f"text{shard}").mkdir()
        for path in (folder / "text").glob("*.[st][rg][ct]"):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = lines[shard::2] if path.stem == "train" else lines
            (folder / f"text{shard}" / path.name).write_text("".join(kept), encoding="utf-8")
        known = [f"--{side}dict={folder / 'bin0'}/dict.{side}.txt" for side in ("src", "tgt")] if shard else []
        toy.preprocess(folder / f"text{shard}", folder / f"bin{shard}", *known)
    return f"{folder / 'bin0'}:{folder / 'bin1'}"


def command(shards: str, save: Path, *options: str, update_freq: int) -> list[str]:
    overrides = [
        *(f"task.data={shards}", "task.source_lang=src", "task.target_lang=tgt", f"optimization.max_update={UPDATES}"),
        *(f"checkpoint.save_dir={save}", f"+optimization.update_freq=[{update_freq}]", "model.dropout=0.0"),
    ]
    return train_command(*options, overrides=overrides)


def workers(training: TrainingProcess) -> list[int]:
    """The processes of a torchrun that train, in the order of their ranks."""
    pid = training.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ranks = {}
    for child in children:
        environment = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        ranks |= {int(entry[5:]): int(child) for entry in environment if entry.startswith(b"RANK=")}
    return [ranks[rank] for rank in sorted(ranks)]


def test_two_processes_one_killed_are_one_with_twice_the_batches(shards, tmp_path):
    one = TrainingProcess(command(shards, tmp_path / "one", update_freq=2), tmp_path / "one.log")
    assert one.wait() == 0, one.text
    call = command(shards, tmp_path / "two", "--processes", "2", update_freq=1)

    killed = TrainingProcess(call, tmp_path / "killed.log")
    killed.wait_for_update(13)
    _, second = workers(killed)
    os.kill(second, signal.SIGKILL)
    begin = time.monotonic()
    assert killed.wait() != 0
    seconds = time.monotonic() - begin
    assert "Signal 9 (SIGKILL) received by PID" in killed.text and str(second) in killed.text
    assert re.search(rf"rank\s*: 1 \(local_rank: 1\)\s+exitcode\s*: -9 \(pid: {second}\)", killed.text)
    assert torch.load(tmp_path / "two/checkpoint_last.pt")["optimizer_history"][-1]["num_updates"] >= 12

    resumed = TrainingProcess(call, tmp_path / "resumed.log")
    assert resumed.wait() == 0, resumed.text
    assert min(resumed.losses()) > 12, "it began anew"
    losses, expected = {**killed.losses(), **resumed.losses()}, one.losses()
    assert losses.keys() == expected.keys() and len(expected) == UPDATES
    apart = max(abs(losses[update] - expected[update]) for update in expected)
    models = [torch.load(tmp_path / name / "checkpoint_last.pt")["model"] for name in ("one", "two")]
    parameters = max((models[0][name] - models[1][name]).abs().max().item() for name in models[0])
    print(f"killed: ended after {seconds:.1f} s; losses {apart:.4f} apart, parameters {parameters:.2g}")
    assert apart <= LOSS_TOLERANCE and parameters <= PARAMETER_TOLERANCE
