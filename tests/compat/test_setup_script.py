"""scripts/setup.sh, in a small project without requirements and with a stand-in for fairseq."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from recurrent_mt.translation.box import GROUP
from recurrent_mt.translation.distribution import METADATA

from .conftest import PROJECT, find_interpreter


def start_setup(project: Path, **variables: object) -> subprocess.Popen:
    """Starts the project's setup.sh, with the project's wheels instead of pip's configuration."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "VENV", "PYTHON"))}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": (project / "wheels").as_uri()}
    # Compiling what it installs takes pip longer than all else.
    environment["PIP_NO_COMPILE"] = "1"
    environment |= {name: str(value) for name, value in variables.items()}
    command = ["bash", project / "scripts/setup.sh"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def setup(project: Path, **variables: object) -> subprocess.CompletedProcess:
    """Runs the project's setup.sh to its end."""
    running = start_setup(project, **variables)
    stdout, stderr = running.communicate()
    return subprocess.CompletedProcess(running.args, running.returncode, stdout, stderr)


def write_wheel(folder: Path, name: str, version: str, files: dict[str, bytes | str]) -> None:
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        information = f"{name}-{version}.dist-info/"
        files = {
            information + "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            information + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            **files,
            information + "RECORD": "",
        }
        for path, content in files.items():
            wheel.writestr(path, content)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder instead of the network: pip and setuptools as installed here, and a stand-in for fairseq."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("pip", "setuptools"):
        distribution = importlib.metadata.distribution(name)
        files = (file for file in distribution.files if ".." not in file.parts and file.suffix != ".pyc")
        write_wheel(folder, name, distribution.version, {str(file): file.read_binary() for file in files})
    entry_points = "[console_scripts]\nfairseq-train = fairseq:main\n"
    files = {"fairseq.py": "def main(): print('trained')\n", "fairseq-0.12.2.dist-info/entry_points.txt": entry_points}
    write_wheel(folder, "fairseq", "0.12.2", files)
    return folder


@pytest.fixture
def project(tmp_path: Path, wheels: Path) -> Path:
    """The files setup.sh works with, and a folder of wheels that takes the place of the network."""
    folder = tmp_path / "a project"
    shutil.copytree(PROJECT / "fairseq_compat", folder / "fairseq_compat")
    for name in ("user_dir", "scripts"):
        (folder / name).mkdir()
    (folder / "user_dir/__init__.py").touch()
    shutil.copy(PROJECT / "scripts/setup.sh", folder / "scripts")
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder)
    (folder / "requirements.txt").touch()
    (folder / "wheels").symlink_to(wheels)
    return folder


def assert_works(environment: Path) -> None:
    program = "import sys, fairseq, user_dir; print(type(sys.meta_path[0]).__name__)"
    # PYTHONPATH, which -E ignores, may name a checkout whose user_dir would be imported in place of the installed one.
    command = [environment / "bin/python", "-E", "-c", program]
    assert subprocess.check_output(command, text=True, cwd="/") == "RepairFinder\n"
    assert subprocess.check_output(environment / "bin/fairseq-train", text=True) == "trained\n"


@pytest.mark.parametrize("version", [(3, 8), (3, 10)])
def test_unsuitable_python_gets_one_sentence(project: Path, version: tuple[int, int]):
    interpreter = find_interpreter(version)
    if interpreter is None:
        pytest.skip("no Python {}.{} on this machine".format(*version))
    finished = setup(project, PYTHON=interpreter)
    assert finished.returncode != 0 and finished.stdout == ""
    assert finished.stderr.startswith(f"setup: PYTHON={interpreter} cannot work: Python 3.{version[1]} is too old: ")
    assert finished.stderr.count("\n") == 1 and finished.stderr.endswith(".\n")
    assert not (project / ".venv").exists()


def write_program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "program, reason",
    [
        (
            f"""exec {sys.executable} -c 'import sys; sys.modules["venv"] = None; exec(sys.stdin.read())'""",
            "has no venv module",
        ),
        ("echo 'pyenv: no such version' >&2; exit 127", "pyenv: no such version"),
        ("exit 1", "it does not run"),
        (None, "there is no such program"),
    ],
)
def test_broken_python_gets_one_sentence(project: Path, program: str | None, reason: str):
    path = project / "python-for-test"
    if program is not None:
        write_program(path, program)
    finished = setup(project, PYTHON=path)
    assert finished.returncode != 0
    assert reason in finished.stderr and finished.stderr.count("\n") == 1


def test_machine_without_python_gets_one_sentence(project: Path, tmp_path: Path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("bash", "cat", "cksum", "dirname", "flock", "ls", "mkdir"):
        if shutil.which(tool):
            (folder / tool).symlink_to(shutil.which(tool))
    write_program(folder / "python3.11", "echo broken >&2; exit 1")
    finished = setup(project, PATH=folder)
    assert finished.returncode != 0
    assert "no usable Python (3.11 to 3.14" in finished.stderr
    assert f"{folder}/python3.11: broken" in finished.stderr and finished.stderr.count("\n") == 1


def test_an_unrelated_folder_is_not_touched(project: Path, tmp_path: Path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "work.txt").write_text("years of it")
    finished = setup(project, VENV=folder, PYTHON=sys.executable)
    assert finished.returncode != 0 and "was not made by this script" in finished.stderr
    assert [path.name for path in folder.iterdir()] == ["work.txt"]


@pytest.mark.parametrize("file", [".setup-complete", ".setup-unfinished"])
def test_an_environment_of_another_place_is_left_alone(project: Path, tmp_path: Path, file: str):
    """One of another clone, and one that was moved or copied, which would not work."""
    environment = tmp_path / "another / clone" / ".venv"
    environment.mkdir(parents=True)
    place = f"{environment.parent} {environment}"
    (environment / file).write_text(f"{place}\n3.11\n")
    given = tmp_path / "mine"
    given.symlink_to(environment)
    finished = setup(project, VENV=given, PYTHON=sys.executable)
    assert finished.returncode != 0
    assert finished.stderr == (
        f"setup: {environment} was not made here, but for {place}; remove it, or choose another folder with VENV=.\n"
    )
    assert [path.name for path in environment.iterdir()] == [file]


def test_an_unfinished_environment_says_whose_it_is(project: Path, tmp_path: Path):
    # A Python that makes no environment: the slow test has one that gets as far as requirements.txt.
    finished = setup(project, PYTHON=write_program(tmp_path / "python", 'test "$1" = - && echo /usr 3.11'))
    assert finished.returncode != 0 and "could not make the environment" in finished.stderr
    assert (project / ".venv/.setup-unfinished").read_text() == f"{project} {project / '.venv'}\n"


def test_the_folders_that_cd_looks_in_change_nothing(project: Path, tmp_path: Path):
    (project / ".venv").mkdir()
    (project / ".venv/work.txt").touch()
    variables = {**os.environ, "PYTHON": sys.executable, "PIP_NO_INDEX": "1", "CDPATH": f".:{tmp_path}"}
    variables.pop("VENV", None)
    line = ["bash", "scripts/setup.sh"]
    finished = subprocess.run(line, capture_output=True, text=True, env=variables, cwd=project)
    assert finished.returncode != 0
    assert finished.stderr.startswith(f"setup: {project}/.venv was not made by this script")


#: Python and pip for setup.sh: it writes its arguments down, and where it makes an environment, that has it, too.
STAND_IN = r"""
if [ "$1" = - ]; then  # a program on standard input: which Python this is, and whether a compiler is missing
  program=$(cat)
  case $program in *version_info*) echo /usr 3.11 ;; esac
  exit
fi
[ "$1" = -c ] && exit
echo "$*" >>"$CALLS"
if [ "$2" = venv ]; then
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/fairseq-train"
fi
"""


def test_an_environment_is_made_once_and_of_it_only_what_has_changed(project: Path, tmp_path: Path):
    """Which calls of pip that takes: the slow test makes them, and so does .ci/run in a fresh clone."""
    box = write_box(project)
    calls = tmp_path / "calls"
    python = write_program(tmp_path / "python", STAND_IN)

    def called(**variables: object) -> list[str]:
        calls.write_text("")
        finished = setup(project, CALLS=calls, **variables)
        assert finished.returncode == 0, finished.stderr
        return [line.replace(str(project), "PROJECT") for line in calls.read_text().splitlines()]

    editable = f"-e PROJECT/fairseq_compat -e PROJECT -e {str(box).replace(str(project), 'PROJECT')}"
    installed = [
        f"-m pip install --quiet --no-deps {editable}",
        "setup.py --quiet build_ext --inplace",
    ]
    requirements = [
        "-m pip install -r PROJECT/requirements.txt",
        "-m pip install --no-deps fairseq==0.12.2",
    ]
    assert called(PYTHON=python) == ["-m venv PROJECT/.venv", *requirements, *installed]
    assert called() == []
    for name, expected in (("setup.py", installed), ("requirements.txt", [*requirements, *installed])):
        with (project / name).open("a") as file:
            file.write("# changed\n")
        assert called() == expected
        assert called() == []


def write_box(project: Path) -> Path:
    """Models in a box, without models."""
    box = project / "pretrained" / "fr-en"
    (box / "recurrent_mt_fr_en").mkdir(parents=True)
    (box / "recurrent_mt_fr_en/__init__.py").touch()
    values = {"name": "fr-en", "package": "recurrent_mt_fr_en", "title": "A box", "group": GROUP}
    (box / "README.md").touch()
    (box / "pyproject.toml").write_text(METADATA.format(**values, distribution="recurrent-mt-fr-en", version="1"))
    return box


@pytest.mark.slow
def test_environment_is_made_once_with_models_in_a_box_and_repaired(project: Path):
    write_box(project)
    first = setup(project, PYTHON=sys.executable)
    assert first.returncode == 0, first.stderr
    assert_works(project / ".venv")
    program = f"from importlib.metadata import entry_points; print([p.value for p in entry_points(group={GROUP!r})])"
    command = [project / ".venv/bin/python", "-E", "-c", program]
    assert subprocess.check_output(command, text=True, cwd="/") == "['recurrent_mt_fr_en']\n"

    stamp = (project / ".venv/.setup-complete").stat().st_ino
    second = setup(project)
    assert second.returncode == 0 and second.stderr == f"setup: {project}/.venv is ready\n"
    assert (project / ".venv/.setup-complete").stat().st_ino == stamp

    with (project / "setup.py").open("a") as file:
        file.write("# changed\n")
    third = setup(project)
    assert "installing this project" in third.stderr and "requirements.txt" not in third.stderr
    assert (project / ".venv/.setup-complete").stat().st_ino != stamp
    assert_works(project / ".venv")


@pytest.mark.slow
def test_failed_installation_is_not_considered_complete(project: Path):
    requirements = (project / "requirements.txt").read_text()
    (project / "requirements.txt").write_text("a-package-that-is-nowhere==1\n" + requirements)
    failed = setup(project, PYTHON=sys.executable)
    assert failed.returncode != 0
    assert failed.stderr.splitlines()[-1].startswith("setup: pip could not install requirements.txt")
    assert not (project / ".venv/.setup-complete").exists()

    (project / "requirements.txt").write_text(requirements)
    assert setup(project, PYTHON=sys.executable).returncode == 0
    assert_works(project / ".venv")


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.05, 1.5, 4.0])
def test_a_killed_setup_is_repaired_by_the_next(project: Path, delay: float):
    running = start_setup(project, PYTHON=sys.executable)
    time.sleep(delay)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    repaired = setup(project, PYTHON=sys.executable)
    assert repaired.returncode == 0, repaired.stderr
    assert_works(project / ".venv")


@pytest.mark.slow
def test_two_setups_at_once_wait_for_each_other(project: Path):
    calls = [start_setup(project, PYTHON=sys.executable) for _ in range(2)]
    messages = [call.communicate()[1] for call in calls]
    assert [call.returncode for call in calls] == [0, 0]
    assert sum("setup: making" in message for message in messages) == 1
    assert_works(project / ".venv")


def test_an_unknown_argument_gets_one_sentence(project: Path):
    done = subprocess.run(["bash", project / "scripts/setup.sh", "--demo", "--all"], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr == "setup: takes no argument but --demo, --lesson, and --tests, so not --all; see --help.\n"
