"""What every shell script must satisfy: it runs the code of its own clone, and has a help text."""

import subprocess

import pytest

from tests.cli.recipes import ROOT

#: What says what it would do.
PLANNED = {"prepare_fr_en", "prepare_zh_en", "quickstart", "compare_baselines", "train"}
#: Those that are run, not sourced.
RUN = sorted(set(ROOT.glob("scripts/*.sh")) - {ROOT / "scripts" / "environment.sh"})


def call_with_stand_in(folder, code, *line):
    """A script with an environment whose Python says where it has the project's code, or what it is given."""
    python = folder / "mine" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && echo \'{code}\' || echo "$PWD" "$@"\n')
    python.chmod(0o755)
    variables = {"PATH": "/usr/bin:/bin", "VENV": "mine", "SETUP": "no"}
    return subprocess.run(["bash", *line], capture_output=True, text=True, env=variables, cwd=folder)


def test_the_environment_may_be_named_from_the_folder_of_the_call(tmp_path):
    code = tmp_path / "link"
    code.symlink_to(ROOT / "recurrent_mt")
    result = call_with_stand_in(tmp_path, code, ROOT / "scripts" / "test.sh", "tests/data")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{ROOT} -m pytest ") and result.stdout.endswith(" tests/data\n")


@pytest.mark.parametrize("script", ["quickstart.sh", "test.sh", "train.sh"])
def test_the_code_of_another_clone_does_not_run_on_the_files_of_this_one(script, tmp_path):
    other = tmp_path / "other" / "recurrent_mt"
    other.mkdir(parents=True)
    result = call_with_stand_in(tmp_path, other, ROOT / "scripts" / script)
    assert result.returncode == 1 and " -m " not in result.stdout
    environment = f"VENV={tmp_path}/mine"
    assert f"error: {environment} would run {other}, not {ROOT}/recurrent_mt: choose this clone's" in result.stderr


def test_an_environment_without_the_project_is_named(tmp_path):
    variables = {"PATH": "/usr/bin:/bin", "VENV": str(tmp_path), "SETUP": "no"}
    line = ["bash", ROOT / "scripts" / "train.sh", "configs/grconv-30.yaml"]
    result = subprocess.run(line, capture_output=True, text=True, env=variables)
    assert result.returncode == 1 and f"error: VENV={tmp_path} has no installation of this project" in result.stderr


@pytest.mark.parametrize("script", RUN, ids=lambda path: path.name)
def test_help_of_a_script_needs_no_environment_and_writes_nothing(script, tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "VENV": str(tmp_path / "none")}
    result = subprocess.run(["bash", script, "--help"], capture_output=True, text=True, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"bash scripts/{script.name}" in result.stdout
    if script.stem in PLANNED:
        assert "--dry-run" in result.stdout
    assert not list(tmp_path.iterdir())
