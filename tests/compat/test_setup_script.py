"""scripts/setup.sh, in a small project, with a stand-in for Python and pip; .ci/run makes an environment with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import REPOSITORY

#: Python and pip for setup.sh: it writes its arguments down, and where it makes an environment, that has it, too. A
#: call of which $FAILS is a part fails; at $KILLED, everything is killed.
STAND_IN = r"""
[ "$1" = -c ] && exit
echo "$*" >>"$CALLS"
case "$*" in *"$KILLED"*) kill -KILL 0 ;; *"$FAILS"*) exit 1 ;; esac
if [ "$2" = venv ]; then
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/fairseq-train"
fi
"""
NEVER = {"FAILS": "no call", "KILLED": "no call"}
EDITABLE = "-e PROJECT/fairseq_compat -e PROJECT -e PROJECT/pretrained/fr-en"
REQUIREMENTS = [
    "-m pip wheel --no-deps --wheel-dir PROJECT/.venv/wheels fairseq==0.12.2",
    "-m pip install -r PROJECT/requirements.txt",
    "-m pip install --no-deps PROJECT/.venv/wheels/fairseq-*.whl",
]
INSTALLED = [f"-m pip install --quiet --no-deps {EDITABLE}", "-m recurrent_mt build-kernels"]


def start_setup(project: Path, **variables: object) -> subprocess.Popen:
    """Starts the project's setup.sh."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "VENV", "PYTHON"))}
    environment |= NEVER | {name: str(value) for name, value in variables.items()} | {"CALLS": str(project / "calls")}
    command = ["bash", project / "scripts/setup.sh"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def setup(project: Path, **variables: object) -> subprocess.CompletedProcess:
    """Runs the project's setup.sh to its end."""
    running = start_setup(project, **variables)
    stdout, stderr = running.communicate()
    return subprocess.CompletedProcess(running.args, running.returncode, stdout, stderr)


def calls(project: Path, **variables: object) -> list[str]:
    """The calls of Python that setup.sh makes where it succeeds."""
    (project / "calls").write_text("")
    finished = setup(project, **variables)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.endswith(f"setup: {project}/.venv is ready\n")
    return (project / "calls").read_text().replace(str(project), "PROJECT").splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files setup.sh works with."""
    folder = tmp_path / "a project"
    for name in ("user_dir", "scripts", "fairseq_compat", "pretrained/fr-en"):
        (folder / name).mkdir(parents=True)
    shutil.copy(REPOSITORY / "scripts/setup.sh", folder / "scripts")
    for name in ("setup.py", "fairseq_compat/setup.py", "requirements.txt", "pretrained/fr-en/pyproject.toml"):
        (folder / name).touch()
    return folder


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return write_program(tmp_path / "python", STAND_IN)


def write_program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("change", ["modules['venv'] = None", "version_info = (3, 10)"])
def test_a_python_that_cannot_be_used_gets_one_sentence(project: Path, change: str):
    text = f"""exec {sys.executable} -c "import sys; sys.{change}; exec(sys.argv[2])" "$@"\n"""
    finished = setup(project, PYTHON=write_program(project / "python-for-test", text))
    assert finished.returncode != 0
    assert "no usable Python (3.11 to 3.14" in finished.stderr and finished.stderr.count("\n") == 1


def test_an_unrelated_folder_is_not_touched(project: Path, tmp_path: Path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "work.txt").write_text("years of it")
    finished = setup(project, VENV=folder, PYTHON=sys.executable)
    assert finished.returncode != 0 and "was not made by this script" in finished.stderr
    assert [path.name for path in folder.iterdir()] == ["work.txt"]


def test_the_environment_of_another_clone_is_left_alone(project: Path, tmp_path: Path):
    """And a copy of it: that one has to go first."""
    other = tmp_path / "another / clone"
    theirs = other / ".venv"
    theirs.mkdir(parents=True)
    (theirs / ".setup-complete").write_text(f"{other} {theirs}\n3.11\n")
    (tmp_path / "mine").symlink_to(theirs)
    finished = setup(project, VENV=tmp_path / "mine", PYTHON=sys.executable)
    assert finished.returncode != 0
    assert finished.stderr.startswith(f"setup: {theirs} was not made by this script for this folder; remove it, or")
    assert [path.name for path in theirs.iterdir()] == [".setup-complete"]


def test_an_environment_is_made_once_and_of_it_only_what_has_changed(project: Path, python: Path):
    assert calls(project, PYTHON=python) == ["-m venv PROJECT/.venv", *REQUIREMENTS, *INSTALLED]
    assert calls(project) == []
    for name, expected in (("setup.py", INSTALLED), ("requirements.txt", [*REQUIREMENTS, *INSTALLED])):
        with (project / name).open("a") as file:
            file.write("# changed\n")
        assert calls(project) == expected
        assert calls(project) == []


def test_of_what_is_installed_only_what_is_of_this_project_is_replaced(project: Path, python: Path):
    calls(project, PYTHON=python)
    packages = project / ".venv/lib/python3.11/site-packages"
    ours = ["recurrent_mt_fr_en", "recurrent_mt_fr_en-1.0.dist-info", "__editable__.fairseq_recurrent_mt-0.1.0.pth"]
    others = ["recurrent_mt_fr_en_news", "recurrent_mt_mine-1.0.dist-info", "torch"]
    for name in [*ours, *others]:
        (packages / name).mkdir(parents=True)
    (project / "setup.py").write_text("# changed")
    assert calls(project) == INSTALLED
    assert sorted(path.name for path in packages.iterdir()) == others


def test_an_environment_is_the_same_in_any_spelling(project: Path, python: Path):
    (project / "link").symlink_to(project)
    for venv in ("link/environment", "./environment"):
        finished = setup(project, PYTHON=python, VENV=f"{project}/{venv}")
        assert finished.returncode == 0, finished.stderr
        assert finished.stderr.endswith(f"setup: {project}/environment is ready\n")


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        ("-m venv", "could not make the environment"),
        ("pip wheel", "pip could not compile fairseq==0.12.2 (see above), which takes a C++ compiler"),
        ("requirements.txt", "pip could not install requirements.txt (see above)"),
    ],
)
def test_a_failed_installation_is_not_complete_and_says_whose_it_is(fails: str, said: str, project: Path, python: Path):
    failed = setup(project, PYTHON=python, FAILS=fails)
    assert failed.returncode != 0 and said in failed.stderr.splitlines()[-1]
    assert (project / ".venv/.setup-complete").read_text() == f"{project} {project / '.venv'}\n"
    assert calls(project, PYTHON=python) == ["-m venv PROJECT/.venv", *REQUIREMENTS, *INSTALLED]


@pytest.mark.parametrize("moment", ["-m venv", "requirements.txt", "-e "])
def test_a_killed_setup_is_repaired_by_the_next(moment: str, project: Path, python: Path):
    assert setup(project, PYTHON=python, KILLED=moment).returncode == -signal.SIGKILL
    assert calls(project, PYTHON=python) == ["-m venv PROJECT/.venv", *REQUIREMENTS, *INSTALLED]


def test_two_setups_at_once_wait_for_each_other(project: Path, python: Path):
    python.write_text(python.read_text().replace("mkdir -p", "sleep 0.3; mkdir -p"))
    running = [start_setup(project, PYTHON=python) for _ in range(2)]
    messages = [call.communicate()[1] for call in running]
    assert [call.returncode for call in running] == [0, 0]
    assert sum("setup: making" in message for message in messages) == 1
