"""A training that two processes share, over sharded data, and its comparison with one of one process.

Update n of either run is made of batches 2n and 2n + 1: fairseq deals them out to the processes in turn, or hands two
of them to one process. So the gradients are sums of the same two terms, and what the processes do to them besides is to
halve and to double; with more processes the order of the sum, and so its rounding, would be another. Dropout would make
them differ by more: each process draws from the seed of the update, and one process draws for its second batch what
comes after the first.
"""

from __future__ import annotations

from pathlib import Path

import torch

from tests.cli import toy
from tests.faults.training_process import TrainingProcess, train_command

UPDATES = 40
#: Of losses from 10 down to 6: the log rounds them to 0.001, and may round two that are nearly equal apart.
LOSS_TOLERANCE = 0.002
#: Measured: 0, bit for bit.
PARAMETER_TOLERANCE = 1e-6


def make_shards(folder: Path) -> str:
    """The synthetic corpus, small, sentence n in shard n modulo 2, as the workflow deals it out."""
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


def overrides(shards: str, save: Path, *, update_freq: int) -> list[str]:
    """What this training sets, as ``KEY=VALUE``."""
    return [
        *(f"task.data={shards}", "task.source_lang=src", "task.target_lang=tgt", f"optimization.max_update={UPDATES}"),
        *(f"checkpoint.save_dir={save}", f"+optimization.update_freq=[{update_freq}]", "model.dropout=0.0"),
    ]


def train_alone(shards: str, folder: Path) -> TrainingProcess:
    """One process with as many batches in an update as two would have; its checkpoints are in ``folder/one``."""
    call = train_command(overrides=overrides(shards, folder / "one", update_freq=2))
    one = TrainingProcess(call, folder / "one.log")
    assert one.wait() == 0, one.text
    return one


def last_update(save: Path) -> int:
    """Of the last checkpoint."""
    return torch.load(save / "checkpoint_last.pt")["optimizer_history"][-1]["num_updates"]


def check_same(folder: Path, one: TrainingProcess, *parts: TrainingProcess) -> str:
    """Compares the calls that made ``folder/two`` with the training of one process; says how far they are apart."""
    losses: dict[int, float] = {}
    for part in parts:
        losses |= part.losses()
    expected = one.losses()
    assert losses.keys() == expected.keys() and len(expected) == UPDATES
    apart = max(abs(losses[update] - expected[update]) for update in expected)
    models = [torch.load(folder / name / "checkpoint_last.pt")["model"] for name in ("one", "two")]
    parameters = max((models[0][name] - models[1][name]).abs().max().item() for name in models[0])
    assert apart <= LOSS_TOLERANCE and parameters <= PARAMETER_TOLERANCE
    return f"losses {apart:.4f} apart, parameters {parameters:.2g}"
