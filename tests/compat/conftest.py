"""The interpreters of this machine, programs run in any of them with the hook installed, and stock trainings."""

from __future__ import annotations

import functools
import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import commands
from tests.once import build_once

PROJECT = Path(__file__).resolve().parents[2]
#: The versions that the project supports.
SUPPORTED = [(3, 11), (3, 12), (3, 13), (3, 14)]

WIDTHS = {
    "lstm": "--encoder-embed-dim 32 --encoder-hidden-size 32 --decoder-embed-dim 32 --decoder-hidden-size 32"
    " --decoder-out-embed-dim 32",
    "transformer": "--encoder-embed-dim 32 --encoder-ffn-embed-dim 64 --encoder-layers 1 --encoder-attention-heads 2"
    " --decoder-embed-dim 32 --decoder-ffn-embed-dim 64 --decoder-layers 1 --decoder-attention-heads 2",
}
TRAINING = (
    "--cpu --seed 1 --optimizer adam --lr 0.003 --clip-norm 1 --max-tokens 800 --num-workers 0"
    " --no-progress-bar --log-format simple --log-interval 5"
)


@functools.cache
def find_interpreter(version: tuple[int, int]) -> str | None:
    """The path of a working Python of that version: this one, one of pyenv's, or one on PATH."""
    name = "python{}.{}".format(*version)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [sys.executable, *sorted(map(str, pyenv.glob(f"*/bin/{name}"))), shutil.which(name)]
    for candidate in filter(None, candidates):
        probe = subprocess.run(
            [candidate, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True
        )
        if probe.returncode == 0 and probe.stdout.split() == [str(part) for part in version]:
            return candidate
    return None


@pytest.fixture(params=SUPPORTED, ids="{0[0]}.{0[1]}".format)
def version(request: pytest.FixtureRequest) -> tuple[int, int]:
    """Each supported Python version in turn; those the machine lacks are skipped."""
    if find_interpreter(request.param) is None:
        pytest.skip("no Python {}.{} on this machine".format(*request.param))
    return request.param


@pytest.fixture
def package(tmp_path: Path):
    """Writes modules, given as ``{"package/module.py": source}``, where `run_python` finds them."""

    def write(sources: dict[str, str]) -> None:
        for name, source in sources.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            for folder in path.relative_to(tmp_path).parents[:-1]:
                (tmp_path / folder / "__init__.py").touch()
            path.write_text(textwrap.dedent(source), encoding="utf-8")

    return write


@pytest.fixture
def run_python(tmp_path: Path):
    """Runs a program in a Python of the given version, with the hook installed unless told otherwise."""

    def run(version: tuple[int, int], program: str, *, hook: bool = True) -> subprocess.CompletedProcess:
        prelude = "import fairseq_compat; fairseq_compat.install()\n" if hook else ""
        return subprocess.run(
            # Without site-packages, and so without the hook of an environment that has it installed.
            [find_interpreter(version), "-S", "-B", "-c", prelude + textwrap.dedent(program)],
            env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"},
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture
def run_in_environment(tmp_path: Path):
    """Runs a command of the environment these tests run in, and returns it finished, with all that it said as stdout.

    With ``warm``, in a process that has imported fairseq before: see `tests.commands`.
    """

    def run(program: str, *arguments: object, text: str = "", warm: bool = False) -> subprocess.CompletedProcess:
        start = commands.run_warm if warm else commands.run
        finished = start(program, *arguments, text=text, cwd=tmp_path, PYTHONPATH="")
        finished.stdout = re.sub(r"\x1b\[[0-9;]*m", "", finished.stdout + finished.stderr)
        return finished

    return run


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a corpus in which a sentence's translation is the same words in upper case; binary has its data."""
    return build_once(tmp_path_factory, "upper-case", write_corpus)


def write_corpus(folder: Path) -> Path:
    generator = random.Random(1)
    for split, size in (("train", 600), ("valid", 20), ("test", 20)):
        sentences = [
            " ".join(generator.choice("abcdefgh") for _ in range(generator.randint(2, 8))) for _ in range(size)
        ]
        (folder / f"{split}.src").write_text("\n".join(sentences) + "\n")
        (folder / f"{split}.tgt").write_text("\n".join(sentences).upper() + "\n")
    prefixes = [part for split in ("train", "valid", "test") for part in (f"--{split}pref", folder / split)]
    languages = ("-s", "src", "-t", "tgt")
    done = commands.run_warm("fairseq-preprocess", *languages, *prefixes, "--destdir", folder / "binary")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def train(data: Path, run_in_environment):
    """Runs fairseq-train on the corpus and returns what it printed."""

    def run(arch: str, save_dir: Path, *arguments: object, warm: bool = False) -> str:
        words = [*f"{TRAINING} --arch {arch} {WIDTHS[arch]}".split(), "--save-dir", save_dir, *arguments]
        finished = run_in_environment("fairseq-train", data / "binary", *words, warm=warm)
        assert finished.returncode == 0, finished.stdout
        return finished.stdout

    return run
