"""Lines that no batch can hold, sets without a line, and data that changed in the middle of an epoch."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli import toy
from tests.once import build_once

LONG = "w1 " * 69
MODEL = "--arch lstm --encoder-embed-dim 8 --encoder-hidden-size 8 --decoder-embed-dim 8 --decoder-hidden-size 8"
TRAINING = (
    f"{MODEL} --decoder-out-embed-dim 8 --cpu --optimizer adam --lr 0.01 --num-workers 0 --no-progress-bar"
    " --log-format simple --no-epoch-checkpoints"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Binarized data whose validation and test sets have a line of 70 tokens, the third."""

    def build(folder: Path) -> Path:
        toy.write_corpus(folder, train=100)
        for file in ("valid.src", "test.src"):
            lines = (folder / file).read_text().splitlines()
            (folder / file).write_text("\n".join([*lines[:2], LONG, *lines[3:]]) + "\n")
        toy.preprocess(folder, folder / "data")
        return folder

    return build_once(tmp_path_factory, "long-lines", build) / "data"


def train(data: Path, save: Path, *options: object) -> subprocess.CompletedProcess:
    return toy.run("fairseq-train", data, *TRAINING.split(), "--save-dir", save, *options, check=False)


def test_a_long_validation_line_is_named_before_the_first_update(data: Path, tmp_path: Path):
    done = train(data, tmp_path, "--max-tokens", 60, "--max-epoch", 1)
    assert done.returncode == 1
    assert "valid, line 3: 70 source and " in done.stderr
    assert "are more than --max-tokens 60. Raise the limit" in done.stderr
    assert "--skip-invalid-size-inputs-valid-test" in done.stderr
    assert "num_updates" not in done.stdout


def test_a_line_that_the_model_does_not_take_is_named_before_the_first_update(data: Path, tmp_path: Path):
    done = train(data, tmp_path, "--max-tokens", 600, "--max-epoch", 1, "--max-source-positions", 50)
    assert done.returncode == 1
    assert "valid, line 3: 70 source and " in done.stderr and "the model takes (50 source" in done.stderr
    assert "num_updates" not in done.stdout


def test_long_validation_and_test_lines_are_skipped_where_that_is_asked_for(data: Path, tmp_path: Path):
    skipping = "--skip-invalid-size-inputs-valid-test"
    done = train(data, tmp_path, "--max-tokens", 60, "--max-epoch", 1, skipping)
    assert done.returncode == 0, done.stderr
    assert "1 samples have invalid sizes and will be skipped" in done.stdout + done.stderr
    assert re.search(r"valid on 'valid' subset \| loss \d", done.stdout + done.stderr)

    model = ("--path", tmp_path / "checkpoint_last.pt", "--cpu", "--num-workers", 0)
    done = toy.run("fairseq-validate", data, *model, "--valid-subset", "test", "--max-tokens", 60, check=False)
    assert done.returncode == 1 and "test, line 3: 70 source and " in done.stderr
    # A search makes a batch of a sentence that is longer than one.
    done = toy.run("fairseq-generate", data, *model, "--gen-subset", "test", "--max-tokens", 60)
    assert len(re.findall(r"^H-", done.stdout, flags=re.MULTILINE)) == 20
    # Without --task: it is the checkpoint's.
    done = toy.run("fairseq-validate", data, *model, "--max-tokens", 600)
    assert "valid on 'valid' subset | loss" in done.stdout + done.stderr


def test_an_empty_validation_set_is_named(data: Path, tmp_path: Path):
    toy.write_corpus(tmp_path, train=20)
    for side in ("src", "tgt"):
        (tmp_path / f"valid.{side}").write_text("")
    splits = [f"--{split}pref={tmp_path / split}" for split in ("train", "valid")]
    done = toy.run("fairseq-preprocess", "-s", "src", "-t", "tgt", *splits, "--destdir", tmp_path / "data", check=False)
    assert done.returncode == 1 and f"{tmp_path / 'valid.src'} has no line" in done.stderr

    for file in data.iterdir():
        (tmp_path / file.name).write_bytes(b"" if file.name == "valid.src-tgt.src.bin" else file.read_bytes())
    done = train(tmp_path, tmp_path / "save", "--max-tokens", 600)
    assert done.returncode == 1 and "valid.src-tgt.src.bin has no sentences" in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_set_of_which_nothing_is_left_is_named(data: Path, tmp_path: Path):
    limits = ("--max-tokens", 600, "--max-source-positions", 1, "--skip-invalid-size-inputs-valid-test")
    done = train(data, tmp_path, *limits, "--disable-validation")
    assert done.returncode == 1 and "train: none of its 100 sentences can be used" in done.stderr


@pytest.fixture(scope="module")
def stopped(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training stopped in the middle of its first epoch: after 6 batches of 10 sentences."""

    def build(folder: Path) -> Path:
        done = train(data, folder, "--batch-size", 10, "--max-update", 6, "--disable-validation")
        assert done.returncode == 0, done.stderr
        return folder

    return build_once(tmp_path_factory, "stopped", build)


def resume(data: Path, stopped: Path, save: Path, *options: object) -> subprocess.CompletedProcess:
    (save / "checkpoint_last.pt").write_bytes((stopped / "checkpoint_last.pt").read_bytes())
    return train(data, save, "--max-update", 8, "--disable-validation", *options)


def test_fewer_batches_than_have_been_seen_are_explained(data: Path, stopped: Path, tmp_path: Path):
    done = resume(data, stopped, tmp_path, "--batch-size", 40, "--seed", 7)
    assert done.returncode == 1 and "fairseq developers" not in done.stderr
    assert "checkpoint_last.pt was saved in the middle of an epoch that has fewer batches now: " in done.stderr
    assert "--batch-size was 10 and is 40; --seed was 1 and is 7. Continue with what it was saved with" in done.stderr
    assert "--reset-dataloader" in done.stderr


def test_other_batches_are_named_and_the_same_are_not(data: Path, stopped: Path, tmp_path: Path):
    done = resume(data, stopped, tmp_path, "--batch-size", 5)
    assert done.returncode == 0, done.stderr
    assert "with other batches: --batch-size was 10 and is 5. In this epoch, some pairs come twice" in done.stdout
    done = resume(data, stopped, tmp_path, "--batch-size", 10)
    assert done.returncode == 0 and "other batches" not in done.stdout and "num_updates 8" in done.stdout
    done = resume(data, stopped, tmp_path, "--batch-size", 10, "--truncate-source")
    assert done.returncode == 0 and "with other batches: --truncate-source was False and is True." in done.stdout
    done = resume(data, stopped, tmp_path, "--batch-size", 5, "--reset-dataloader")
    assert done.returncode == 0 and "other batches" not in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--sort-k-batches", 2), "--sort-k-batches was 4 and is 2"),
        (("--sort-k-batches", 4, "--max-train-words", 8), "--max-train-words was 0 and is 8"),
    ],
)
def test_batches_of_the_papers_are_compared_too(options, said, data: Path, tmp_path: Path):
    line = ("--user-dir", toy.PLUGIN, "--task", "published_translation", "--batch-size", 10, "--disable-validation")
    done = train(data, tmp_path, *line, "--sort-k-batches", 4, "--max-update", 3)
    assert done.returncode == 0, done.stderr
    done = train(data, tmp_path, *line, *options, "--max-update", 4)
    assert done.returncode == 0 and "with other batches: --" in done.stdout and said in done.stdout


def test_other_data_is_named(data: Path, stopped: Path, tmp_path: Path):
    toy.write_corpus(tmp_path, train=90)
    toy.preprocess(tmp_path, tmp_path / "own")
    done = resume(tmp_path / "own", stopped, tmp_path, "--batch-size", 10)
    assert done.returncode == 1 and f"the source dictionary in {tmp_path / 'own'} has other words" in done.stderr
    toy.preprocess(tmp_path, tmp_path / "data", "--srcdict", data / "dict.src.txt", "--tgtdict", data / "dict.tgt.txt")
    done = resume(tmp_path / "data", stopped, tmp_path, "--batch-size", 10)
    assert done.returncode == 0, done.stderr
    assert "with other batches: the training data had 100 sentences and has 90." in done.stdout
