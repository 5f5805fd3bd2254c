"""Runs the recipes of scripts/ in this interpreter's environment, on a corpus that trains in seconds."""

import json
import os
import random
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from recurrent_mt.runs import launcher
from tests.commands import call, command_line, run_engine

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
TOOLS = ["fairseq-train", "fairseq-preprocess", "fairseq-generate", "sacremoses", "subword-nmt"]
needs_tools = pytest.mark.skipif(
    any(not (BIN / tool).exists() for tool in TOOLS) or find_spec("snakemake") is None,
    reason=f"needs snakemake, and {', '.join(TOOLS)} in {BIN}",
)
TINY = {
    "updates": 30, "max_tokens": 300, "embedding_size": 16, "encoder_size": 16, "decoder_size": 16,
    "beam": 2, "learning_rate": "1e-2",
}  # fmt: skip
WORDS = {"rouge": "red", "grand": "big", "chien": "dog", "chat": "cat", "voit": "sees", "dort": "sleeps"}


def write_corpus(folder):
    """Word-for-word French and English, capital first and a full stop last, in train, valid and test."""
    generator = random.Random(1)
    folder.mkdir()
    for split, size in {"train": 120, "valid": 10, "test": 10}.items():
        sentences = [generator.choices(list(WORDS), k=generator.randint(2, 5)) for _ in range(size)]
        for language, translate in {"fr": str, "en": WORDS.get}.items():
            lines = [" ".join(map(translate, words)).capitalize() + ".\n" for words in sentences]
            (folder / f"{split}.{language}").write_text("".join(lines), encoding="utf-8")
    return folder


def unlock(out: Path) -> None:
    """What a run folder asks for when everything that worked in it was killed at once, as in a power cut."""
    for lock in (out / ".snakemake" / "locks").glob("*"):
        lock.unlink()


def environment():
    """This interpreter's environment, with one thread."""
    return {**os.environ, "VENV": str(BIN.parent), "SETUP": "no", "OMP_NUM_THREADS": "1"}


def command(script, *arguments, **options):
    """The command line of a recipe: what it is given, then ``key=value``."""
    pairs = [f"{name}={value}" for name, value in options.items()]
    return ["bash", str(ROOT / "scripts" / script), *map(str, arguments), *pairs]


def experiment(file, *arguments, succeeds=True, fresh=False, **options):
    """What an experiment says: a file of configs/experiments, or one of one's own; ``fresh`` starts interpreters."""
    pairs = [f"{name}={value}" for name, value in options.items()]
    line = "experiment", ROOT / "configs" / "experiments" / file, *arguments, *pairs
    if fresh:
        return run(command_line("recurrent-mt", *line), succeeds=succeeds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher, "run_engine", run_engine)
        return said(call(*line), succeeds=succeeds)


def run(command_line, *, succeeds=True, cwd=None, **variables):
    """The recipe's output; what it said on standard error too where it had to fail."""
    env = {**environment(), **variables}
    result = subprocess.run(command_line, env=env, capture_output=True, text=True, cwd=cwd)
    return said(result, succeeds=succeeds)


def said(result, *, succeeds):
    """The output of what has ended; what it said on standard error too where it had to fail."""
    if succeeds:
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stdout + result.stderr


def read_table(out):
    """The table.json of a run folder."""
    return json.loads((out / "table.json").read_text())


def values(out, metric, *, test_set="", seed=""):
    """System to value, of one metric in a run folder's table; over the seeds, unless one is named."""
    wanted = {"metric": metric, "test_set": test_set, "seed": seed}
    found = [record for record in read_table(out)["records"] if wanted.items() <= record.items()]
    return {record["system"]: record["value"] for record in found}


def copy(folder, target):
    """A copy to damage."""
    return Path(shutil.copytree(folder, target))
