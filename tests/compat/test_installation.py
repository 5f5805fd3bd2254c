"""What `pip install .` and `pip install -e .` put into an environment, and what it costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.once import build_once

from .conftest import PROJECT

HAS_HOOK = 'import sys; print("RepairFinder" in [type(finder).__name__ for finder in sys.meta_path])'


def pip(python: Path, *arguments: object) -> None:
    """Runs this environment's pip on the environment of `python`, which has none."""
    command = [sys.executable, "-m", "pip", "--python", python, *arguments]
    subprocess.run(list(map(str, command)), check=True)


def build_wheel(source: Path, folder: Path, *, editable: bool = False) -> Path:
    """Does what pip does after it has fetched setuptools: asks it for a wheel.

    The native kernels, which take a minute, are left out, and everything else is installed: there is no compiler, and
    for the editable wheel no PyTorch either, as in pip's isolated build.
    """
    build = "build_editable" if editable else "build_wheel"
    program = "import sys; sys.modules['torch'] = None; " if editable else ""
    program += f"from setuptools import build_meta; print(build_meta.{build}({str(folder)!r}))"
    environment = {**os.environ, "CC": "false", "CXX": "false"}
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, cwd=source, env=environment, check=True, capture_output=True, text=True)
    return folder / done.stdout.split()[-1]


def install(python: Path, *wheels: Path) -> None:
    pip(python, "install", "--no-deps", "--no-index", "--no-compile", "--quiet", *wheels)


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

    def build(folder: Path) -> Path:
        for name in ("fairseq_compat", "recurrent_mt", "user_dir"):
            shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("setup.py", "pyproject.toml"):
            shutil.copy(PROJECT / name, folder)
        return folder

    return build_once(tmp_path_factory, "source", build)


@pytest.fixture(scope="module")
def wheels(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of each distribution."""
    sources = {"fairseq_recurrent_mt": source, "fairseq_compat": source / "fairseq_compat"}

    def build(folder: Path) -> dict[str, Path]:
        return {name: build_wheel(place, folder) for name, place in sources.items()}

    return build_once(tmp_path_factory, "wheels", build)


@pytest.fixture(scope="module", params=["plain", "editable"])
def python(
    request: pytest.FixtureRequest, source: Path, wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The interpreter of an environment in which the project and fairseq_compat were installed, that way."""

    def build(folder: Path) -> Path:
        both = list(wheels.values())
        if request.param == "editable":
            both = [build_wheel(place, folder, editable=True) for place in (source, source / "fairseq_compat")]
        python = make_environment(folder / "environment")
        install(python, *both)
        return python

    return build_once(tmp_path_factory, f"installed-{request.param}", build)


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


def test_the_command_knows_where_the_plug_in_is_and_what_is_missing(python: Path, source: Path):
    """A wheel has it within the library, so that no package is called user_dir; a clone where it always was."""
    command = python.with_name("recurrent-mt")
    printed = subprocess.run([command, "user-dir"], capture_output=True, text=True, check=True, cwd="/").stdout
    folder = Path(printed.rstrip("\n"))
    assert (folder / "models" / "gru_encoder.py").is_file()
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    assert folder in (packages / "recurrent_mt/plugin/user_dir", source / "user_dir")
    assert not (packages / "user_dir").exists()
    missing = subprocess.run([command, "factorize", "--help"], capture_output=True, text=True, cwd="/")
    assert missing.returncode == 1 and missing.stdout == "" and missing.stderr.count("\n") == 1
    assert "this needs fairseq 0.12.2, which is not installed" in missing.stderr


def test_fairseq_compat_asks_for_what_fairseq_imports(python: Path):
    program = "from importlib.metadata import requires; print(*requires('fairseq-compat'))"
    requirements = subprocess.check_output([python, "-c", program], text=True)
    assert "hydra-core<1.4,>=1.3" in requirements and "torch>=2.6" in requirements and "fairseq" not in requirements


def test_uninstalling_removes_the_hook(python: Path, tmp_path: Path):
    copy = shutil.copytree(python.parents[1], tmp_path / "environment", symlinks=True)
    python = copy / "bin" / "python"
    assert has_hook(python)
    pip(python, "uninstall", "--yes", "--quiet", "fairseq-compat")
    assert not has_hook(python)
    pip(python, "uninstall", "--yes", "--quiet", "fairseq-recurrent-mt")
    assert not list(python.parents[1].glob("lib/python*/site-packages/*fairseq*"))


@pytest.mark.parametrize("distribution", ["fairseq_compat", "fairseq_recurrent_mt"])
def test_each_distribution_installs_its_own_packages_and_no_other(
    wheels: dict[str, Path], tmp_path: Path, distribution: str
):
    python = make_environment(tmp_path / "environment")
    install(python, wheels[distribution])
    assert has_hook(python) == (distribution == "fairseq_compat")
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    installed = {path.name for path in packages.iterdir() if path.is_dir()}
    package = "fairseq_compat" if distribution == "fairseq_compat" else "recurrent_mt"
    assert installed == {package, f"{distribution}-0.1.0.dist-info"}
    assert not list(packages.glob("**/setup.py"))
