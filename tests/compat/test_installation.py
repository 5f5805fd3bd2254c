"""What `pip install .` and `pip install -e .` put into an environment, and what it costs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.commands import REPOSITORY
from tests.once import build_once

HAS_HOOK = 'import sys; print("RepairFinder" in [type(finder).__name__ for finder in sys.meta_path])'


def pip(python: Path, *arguments: object) -> None:
    """Runs this environment's pip on the environment of `python`, which has none."""
    command = [sys.executable, "-m", "pip", "--python", python, *arguments]
    subprocess.run(list(map(str, command)), check=True)


def build_wheel(source: Path, folder: Path, *, editable: bool = False) -> Path:
    """Does what pip does after it has fetched setuptools: asks it for a wheel.

    There is no PyTorch, as in pip's isolated build.
    """
    build = "build_editable" if editable else "build_wheel"
    program = "import sys; sys.modules['torch'] = None; "
    program += f"from setuptools import build_meta; print(build_meta.{build}({str(folder)!r}))"
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, cwd=source, check=True, capture_output=True, text=True)
    return folder / done.stdout.split()[-1]


def output(python: Path | str, program: str) -> str:
    finished = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stderr == ""
    return finished.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the installation needs, so that it leaves no build folder in the project."""

    def build(folder: Path) -> Path:
        for name in ("fairseq_compat", "recurrent_mt", "user_dir"):
            shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(REPOSITORY / name, folder)
        return folder

    return build_once(tmp_path_factory, "source", build)


def test_every_process_here_has_the_hook_and_spawned_workers_and_nothing_heavy_is_imported(tmp_path: Path):
    assert output(sys.executable, HAS_HOOK) == "True\n"
    program = tmp_path / "spawn.py"
    program.write_text(
        "import multiprocessing, sys\n"
        "def finders(_): return [type(finder).__name__ for finder in sys.meta_path]\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print('RepairFinder' in pool.map(finders, [0])[0])\n"
    )
    spawn = f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    assert output(sys.executable, spawn) == "True\n"
    loaded = set(output(sys.executable, "import sys; print(*sys.modules)").split())
    assert {name for name in loaded if name.startswith("fairseq_compat")} == {"fairseq_compat"}
    assert not loaded & {"dataclasses", "inspect", "torch", "typing"}


def test_extras_admit_the_versions_that_everything_is_tested_with():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    asked = list(map(Requirement, chain(project["dependencies"], *project["optional-dependencies"].values())))
    lines = chain(*(path.read_text().splitlines() for path in REPOSITORY.glob("requirements*.txt")))
    tested = dict(line.lower().replace("_", "-").split("==") for line in lines if "==" in line)
    for one in asked:
        if one.name not in (project["name"], "setuptools"):
            assert one.specifier.contains(tested[one.name.lower().replace("_", "-")]), one


def test_the_wheel_of_fairseq_compat_has_the_hook_and_asks_for_what_fairseq_imports(source: Path, tmp_path: Path):
    with zipfile.ZipFile(build_wheel(source / "fairseq_compat", tmp_path)) as wheel:
        files = wheel.namelist()
        metadata = wheel.read("fairseq_compat-0.1.0.dist-info/METADATA").decode()
        assert wheel.read("fairseq_compat.pth") == b"import fairseq_compat; fairseq_compat.install()\n"
    packages = {name.partition("/")[0] for name in files}
    assert packages == {"fairseq_compat", "fairseq_compat-0.1.0.dist-info", "fairseq_compat.pth"}
    assert "fairseq_compat/repairs/trainer.py" in files and not any(name.endswith("setup.py") for name in files)
    assert "Requires-Dist: hydra-core<1.4,>=1.3" in metadata and "Requires-Dist: fairseq" not in metadata


def test_the_wheel_has_all_of_the_library_and_the_plug_in_and_asks_for_little(source: Path, tmp_path: Path):
    """Whatever lies there, such as the sources of the kernels, which `recurrent-mt build-kernels` compiles."""
    with zipfile.ZipFile(build_wheel(source, tmp_path)) as wheel:
        files = {name for name in wheel.namelist() if ".dist-info/" not in name}
        metadata = wheel.read("fairseq_recurrent_mt-0.1.0.dist-info/METADATA").decode().splitlines()
    places = {"recurrent_mt": "recurrent_mt", "user_dir": "recurrent_mt/plugin/user_dir"}
    there = {
        f"{place}/{path.relative_to(source / name)}"
        for name, place in places.items()
        for path in (source / name).rglob("*")
        if path.is_file()
    }
    assert files == there and "recurrent_mt/kernels/native/gru.cpp" in files
    asked = [line.removeprefix("Requires-Dist: ") for line in metadata if line.startswith("Requires-Dist: ")]
    base = {re.match(r"[\w-]+", line)[0] for line in asked if "extra ==" not in line}
    assert base == {"langcodes", "numpy", "regex", "sacremoses", "sentencepiece", "subword-nmt"}


@pytest.mark.slow
@pytest.mark.parametrize("editable", [False, True], ids=["plain", "editable"])
def test_both_distributions_are_installed_work_and_are_uninstalled(editable: bool, source: Path, tmp_path: Path):
    """A wheel has the plug-in within the library, so that no package is called user_dir; a clone where it was."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment"], check=True)
    python = tmp_path / "environment/bin/python"
    wheels = [build_wheel(place, tmp_path, editable=editable) for place in (source, source / "fairseq_compat")]
    pip(python, "install", "--no-deps", "--no-index", "--no-compile", "--quiet", *wheels)
    assert output(python, HAS_HOOK) == "True\n"
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    command = python.with_name("recurrent-mt")
    printed = subprocess.run([command, "user-dir"], capture_output=True, text=True, check=True, cwd="/").stdout
    folder = Path(printed.rstrip("\n"))
    assert (folder / "models" / "gru_encoder.py").is_file()
    assert folder == (source / "user_dir" if editable else packages / "recurrent_mt/plugin/user_dir")
    assert not (packages / "user_dir").exists() and not list(packages.glob("**/setup.py"))
    missing = subprocess.run([command, "factorize", "--help"], capture_output=True, text=True, cwd="/")
    assert missing.returncode == 1 and missing.stdout == "" and missing.stderr.count("\n") == 1
    assert "this needs fairseq 0.12.2, which is not installed" in missing.stderr

    pip(python, "uninstall", "--yes", "--quiet", "fairseq-compat")
    assert output(python, HAS_HOOK) == "False\n"
    pip(python, "uninstall", "--yes", "--quiet", "fairseq-recurrent-mt")
    assert not list(packages.glob("*fairseq*"))
