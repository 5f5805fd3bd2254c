"""What `pip install .` and `pip install -e .` put into an environment, and what it costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import PROJECT

HAS_HOOK = 'import sys; print("RepairFinder" in [type(finder).__name__ for finder in sys.meta_path])'


def pip(python: Path, *arguments: object) -> None:
    """Runs this environment's pip on the environment of `python`, which has none."""
    command = [sys.executable, "-m", "pip", "--python", python, *arguments]
    subprocess.run(list(map(str, command)), check=True)


def install(python: Path, source: Path, *, editable: bool = False) -> None:
    """Does what pip does after it has fetched setuptools: asks it for a wheel, and installs that."""
    wheels = python.parents[1] / "wheels"
    build = "build_editable" if editable else "build_wheel"
    program = f"from setuptools import build_meta; build_meta.{build}({str(wheels)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=source, check=True, capture_output=True)
    pip(python, "install", "--no-deps", "--no-index", "--quiet", *wheels.glob("*.whl"))


def make_environment(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def has_hook(python: Path, program: str = HAS_HOOK) -> bool:
    finished = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stderr == ""
    return {"True\n": True, "False\n": False}[finished.stdout]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the installation needs, so that it leaves no build folder in the project."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("fairseq_compat", "user_dir"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder)
    return folder


@pytest.fixture(scope="module", params=["plain", "editable"])
def python(request: pytest.FixtureRequest, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which the project was installed that way."""
    python = make_environment(tmp_path_factory.mktemp(request.param) / "environment")
    install(python, source, editable=request.param == "editable")
    return python


def test_every_process_has_the_hook(python: Path):
    assert has_hook(python)


def test_spawned_workers_have_the_hook(python: Path, tmp_path: Path):
    program = tmp_path / "spawn.py"
    program.write_text(
        "import multiprocessing, sys\n"
        "def finders(_): return [type(finder).__name__ for finder in sys.meta_path]\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print('RepairFinder' in pool.map(finders, [0])[0])\n"
    )
    assert has_hook(python, f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')")


def test_nothing_heavy_is_imported(python: Path):
    finished = subprocess.run(
        [python, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    loaded = set(finished.stdout.split())
    assert {name for name in loaded if name.startswith("fairseq_compat")} == {"fairseq_compat"}
    assert not loaded & {"dataclasses", "importlib.util", "inspect", "pathlib", "torch", "typing"}


def test_start_costs_less_than_five_milliseconds(python: Path, tmp_path: Path):
    """The fastest of many runs each, taking turns: whatever else the machine does only adds time."""
    bare = make_environment(tmp_path / "bare")
    assert not has_hook(bare) and has_hook(python)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    fastest = {bare: float("inf"), python: float("inf")}
    for _ in range(40):
        for interpreter in fastest:
            start = time.perf_counter()
            subprocess.run([interpreter, "-c", ""], check=True, env=environment)
            fastest[interpreter] = min(fastest[interpreter], time.perf_counter() - start)
    cost = fastest[python] - fastest[bare]
    print(f"start-up cost {1000 * cost:.2f} ms on {1000 * fastest[bare]:.2f} ms")
    assert cost < 0.005


def test_uninstalling_removes_the_hook(python: Path):
    """The last test of this environment."""
    pip(python, "uninstall", "--yes", "--quiet", "fairseq-recurrent-mt")
    assert not has_hook(python)
    assert not list(python.parents[1].glob("lib/python*/site-packages/*fairseq*"))


def test_without_the_package_nothing_of_it_is_installed(source: Path, tmp_path: Path):
    """The folder fairseq_compat can be deleted: the rest installs as before, without the hook."""
    ignored = shutil.ignore_patterns("fairseq_compat", "build", "*.egg-info")
    copy = shutil.copytree(source, tmp_path / "source", ignore=ignored)
    python = make_environment(tmp_path / "environment")
    install(python, copy)
    assert not has_hook(python)
    assert not list(python.parents[1].glob("lib/python*/site-packages/fairseq_compat*"))
