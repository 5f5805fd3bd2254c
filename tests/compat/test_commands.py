"""The stock commands with the stock models, in the environment the tests run in: train, resume, translate."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from .conftest import TRAINING, WIDTHS
from .test_checkpoints import globals_in


def losses(log: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"\| train_inner \|.*? loss=?\s*([\d.]+)", log)]


def test_transformer_trains_in_bfloat16_resumes_and_translates(data: Path, tmp_path: Path, train, run_in_environment):
    folder = tmp_path / "checkpoints"
    bleu = ["--eval-bleu", "--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"]
    # A model that has learned little translates up to the greatest length.
    bleu += ["--eval-bleu-args", '{"beam": 2, "max_len_b": 10}', "--validate-interval", 5]
    log = train("transformer", folder, "--bf16", "--max-update", 20, *bleu, warm=True)
    first = losses(log)
    assert len(first) == 4 and first[-1] < first[0] - 0.5
    for advice in ("hydra.cc", "hydra.experimental", "pin_memory", "tensorboardX", "cuda.amp"):
        assert advice not in log

    # With --eval-bleu, the meters are numpy arrays.
    assert "numpy._core.multiarray _reconstruct" in globals_in(folder / "checkpoint_last.pt")
    assert "argparse Namespace" in globals_in(folder / "checkpoint_last.pt")
    log = train("transformer", folder, "--bf16", "--max-update", 40, *bleu, warm=True)
    assert re.search(r"Loaded checkpoint .*checkpoint_last.pt \(epoch \d+ @ 20 updates\)", log)
    assert losses(log)[-1] < first[-1]

    generated = run_in_environment(
        "fairseq-generate", data / "binary", "--path", folder / "checkpoint_last.pt", "--cpu", "--beam", 3, warm=True
    )
    assert generated.returncode == 0, generated.stdout
    assert len(re.findall(r"^H-\d+\t", generated.stdout, flags=re.MULTILINE)) == 20

    source = "a b c\nd e f g h\n"
    # The padded batch of two is what fairseq's fast path stops at.
    typed = run_in_environment(
        "fairseq-interactive",
        *(data / "binary", "--path", folder / "checkpoint_last.pt", "--cpu", "--buffer-size", 2, "--batch-size", 2),
        text=source,
        warm=True,
    )
    assert typed.returncode == 0, typed.stdout
    assert re.findall(r"^S-\d+\t(.*)", typed.stdout, flags=re.MULTILINE) == source.splitlines()
    assert len(re.findall(r"^H-\d+\t-?[\d.]+\t[A-H ]*$", typed.stdout, flags=re.MULTILINE)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("arch, precision", [("lstm", "--bf16"), ("transformer", "--memory-efficient-bf16")])
def test_bfloat16_trains_and_resumes(tmp_path: Path, train, arch: str, precision: str):
    first = losses(train(arch, tmp_path / "checkpoints", precision, "--max-update", 20))
    assert first[-1] < first[0]
    log = train(arch, tmp_path / "checkpoints", precision, "--max-update", 30)
    assert "@ 20 updates" in log
    assert losses(log)[-1] < first[0]


def test_hydra_train_shows_the_real_error(tmp_path: Path, run_in_environment):
    (tmp_path / "experiment.yaml").write_text(
        "# @package _group_\n"
        "common: {cpu: true}\n"
        "task: {_name: translation, data: there-is-no-such-folder, source_lang: a, target_lang: b}\n"
        "model: {_name: transformer}\ncriterion: cross_entropy\noptimizer: {_name: adam}\nlr_scheduler: fixed\n"
        "dataset: {max_tokens: 100}\noptimization: {lr: [0.1]}\n"
    )
    finished = run_in_environment(
        "fairseq-hydra-train", "--config-dir", tmp_path, "--config-name", "experiment", warm=True
    )
    assert finished.returncode != 0
    assert "FileNotFoundError" in finished.stdout and "there-is-no-such-folder/dict.a.txt" in finished.stdout
    assert "print_exception" not in finished.stdout and "hydra.cc" not in finished.stdout


@pytest.mark.slow
def test_two_processes_of_torchrun_with_data_workers(data: Path, tmp_path: Path, run_in_environment):
    finished = run_in_environment(
        "torchrun",
        *("--standalone", "--nproc_per_node", 2, shutil.which("fairseq-train", path=str(Path(sys.executable).parent))),
        *(data / "binary", *f"{TRAINING} --arch lstm {WIDTHS['lstm']} --max-update 10 --num-workers 1".split()),
        *("--distributed-backend", "gloo", "--ddp-backend", "legacy_ddp", "--save-dir", tmp_path / "checkpoints"),
    )
    assert finished.returncode == 0, finished.stdout
    assert "num_updates 10" in finished.stdout
    assert (tmp_path / "checkpoints" / "checkpoint_last.pt").is_file()
