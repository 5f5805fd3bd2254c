"""A toy task for the command line: words of a small vocabulary, the target in upper case and reversed."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests import commands
from tests.once import build_once

REPOSITORY = commands.REPOSITORY
PLUGIN = REPOSITORY / "user_dir"
WORDS = [f"w{index}" for index in range(8)]

#: Sizes of a model that learns the toy task in seconds.
SMALL = [
    *("--encoder-embed-dim", "24", "--encoder-hidden-size", "32", "--decoder-embed-dim", "24"),
    *("--decoder-hidden-size", "64", "--decoder-out-embed-dim", "24", "--dropout", "0"),
]
TRAINING = [
    *("--optimizer", "adam", "--lr", "0.01", "--clip-norm", "1", "--max-tokens", "600", "--cpu", "--seed", "1"),
    *("--log-format", "json", "--log-interval", "1", "--no-progress-bar"),
    # An epoch of the toy corpus has four updates: most of the time would go to the work after each epoch.
    *("--no-epoch-checkpoints", "--save-interval", "10", "--validate-interval", "10"),
    # A process that loads data would be started for each.
    *("--num-workers", "0"),
]


def run(command: str, *arguments: object, text: str = "", check: bool = True) -> subprocess.CompletedProcess:
    """Runs a console command in a process that has imported fairseq (see `tests.commands`)."""
    done = commands.run_warm(command, *arguments, text=text)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def write_corpus(folder: Path, *, train: int = 400) -> None:
    """Writes train, valid and test with the suffixes .src and .tgt."""
    generator = random.Random(1)
    for split, size in (("train", train), ("valid", 20), ("test", 20)):
        sources = [[generator.choice(WORDS) for _ in range(generator.randint(1, 5))] for _ in range(size)]
        targets = [[word.upper() for word in reversed(source)] for source in sources]
        for suffix, sentences in (("src", sources), ("tgt", targets)):
            lines = "".join(" ".join(sentence) + "\n" for sentence in sentences)
            (folder / f"{split}.{suffix}").write_text(lines)


def preprocess(text: Path, destination: Path, *options: object) -> None:
    """Binarizes the corpus in ``text`` with fairseq's own command."""
    splits = [f"--{split}pref={text / split}" for split in ("train", "valid", "test")]
    run("fairseq-preprocess", "-s", "src", "-t", "tgt", *splits, "--destdir", destination, *options)


def train(data: Path, save: Path, *options: object, check: bool = True) -> subprocess.CompletedProcess:
    """Trains on binarized data; ``options`` name the architecture and the number of updates."""
    model = ("--save-dir", save, *SMALL, *TRAINING, *options)
    return run("fairseq-train", data, "--user-dir", PLUGIN, *model, check=check)


def generate(data: Path, path: object, *options: object, check: bool = True) -> subprocess.CompletedProcess:
    """Translates the test set."""
    model = ("--path", path, "--cpu", "--num-workers", "0", "--beam", "3", *options)
    return run("fairseq-generate", data, "--user-dir", PLUGIN, *model, check=check)


def learned(factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus, its binarized data, and in save a model that has learned the task.

    It has the checkpoints of two updates; log is what its training printed.
    """

    def build(folder: Path) -> Path:
        write_corpus(folder)
        preprocess(folder, folder / "data")
        options = ("--arch", "gru_encoder", "--encoder-bidirectional", "--max-update", 100)
        done = train(folder / "data", folder / "save", *options, "--save-interval-updates", 50)
        (folder / "log").write_text(done.stdout + done.stderr)
        return folder

    return build_once(factory, "learned", build)


def lines(output: str, letter: str) -> dict[int, str]:
    """The lines of fairseq-generate that start with a letter, by sentence: what stands after the last tab."""
    found = [line for line in output.splitlines() if line.startswith(f"{letter}-")]
    return {int(line.split("\t")[0][2:]): line.split("\t")[-1] for line in found}
