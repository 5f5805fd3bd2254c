"""What is tried again, what is named as failed, and what Snakemake is told: without Snakemake."""

import subprocess
import sys
from pathlib import Path

import pytest

from recurrent_mt.runs import launcher
from recurrent_mt.runs.experiment import PROJECT, read_experiment
from recurrent_mt.runs.launcher import (
    Launch,
    engine_command,
    environment,
    launch,
    threads_of_a_training,
)
from recurrent_mt.runs.plan import make_plan

QUICKSTART = PROJECT / "configs" / "experiments" / "quickstart.yaml"
OUT_OF_MEMORY = "failed\nout of memory\nupdate 80\n"
DIVERGED = "diverged\ndiverged: loss or gradient is not a number\n"


@pytest.fixture
def plan():
    return make_plan("quickstart", read_experiment(QUICKSTART, ["systems=lstm,fconv"]))


@pytest.fixture
def out(tmp_path):
    (tmp_path / "run" / "results").mkdir(parents=True)
    return tmp_path / "run"


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def outcome(plan, out, system="lstm"):
    """The file of one training."""
    return out / "trainings" / plan.systems[system].folder / "seed-1" / "outcome"


def call(plan, out, monkeypatch, *, makes=(), status=0, **settings):
    """What a call says and returns whose Snakemake writes files and ends with a status."""
    lines = []

    def run_workflow(*_, **__):
        for file, text in dict(makes).items():
            write(file, text)
        return status

    monkeypatch.setattr(launcher, "run_workflow", run_workflow)
    failed = launch(plan, Launch(out, **settings), lines.append)
    return failed, "\n".join(lines)


def test_a_failed_training_is_listed_with_the_end_of_its_log(plan, out, monkeypatch):
    failed, said = call(plan, out, monkeypatch, makes={outcome(plan, out): OUT_OF_MEMORY})
    assert failed == "lstm, seed 1 (--retry to try again)"
    assert said == "Failed: lstm, seed 1: out of memory\n  | update 80"


def test_a_failed_training_stays_failed_until_it_is_tried_again(plan, out, monkeypatch):
    file = write(outcome(plan, out), OUT_OF_MEMORY)
    failed, said = call(plan, out, monkeypatch)
    assert failed == "lstm, seed 1 (--retry to try again)" and file.exists()
    assert said.startswith("Failed before: lstm, seed 1: out of memory (--retry to try again)\n")
    assert call(plan, out, monkeypatch, retry=True) == ("", "") and not file.exists()


def test_all_else_that_failed_is_tried_again(plan, out, monkeypatch):
    (name,) = [name for name in plan.translation_outcomes if "lstm" in name]
    drawing = write(out / plan.drawing_outcomes[0], OUT_OF_MEMORY)
    file = write(out / name, OUT_OF_MEMORY)
    kept = write(out / name.replace("lstm", "fconv"), "finished\n")
    failed, _ = call(plan, out, monkeypatch, makes={file: OUT_OF_MEMORY})
    assert failed == f"{name.removesuffix('.outcome')} (rerun the same command to try again)" and not drawing.exists()
    assert call(plan, out, monkeypatch)[0] == "" and not file.exists() and kept.exists()


def test_what_failed_in_another_experiment_of_the_folder_stays_as_it_is(plan, out, monkeypatch):
    (name,) = [name for name in plan.translation_outcomes if "lstm" in name]
    others = [out / name.replace("test.", "extra-news."), out / name.replace("beam-5", "beam-3")]
    for file in others:
        write(file, OUT_OF_MEMORY)
    assert call(plan, out, monkeypatch)[0] == "" and all(file.exists() for file in others)


def test_a_step_without_an_outcome_is_named_by_the_engine(plan, out, monkeypatch):
    failed, _ = call(plan, out, monkeypatch, status=1)
    assert failed == "a step that is named above (rerun the same command to try again)"


def test_a_dry_run_leaves_nothing_behind(plan, tmp_path, monkeypatch):
    assert call(plan, tmp_path / "run", monkeypatch, dry_run=True) == ("", "")
    assert not list(tmp_path.iterdir())


def test_a_folder_of_something_else_is_refused(plan, tmp_path, monkeypatch):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="is not empty, and no run folder of this project: choose another with out="):
        call(plan, tmp_path, monkeypatch)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_in_which_a_call_works_is_left_alone(plan, out, monkeypatch):
    failed = write(out / plan.drawing_outcomes[0], OUT_OF_MEMORY)
    lock = write(out / ".snakemake" / "locks" / "0.output.lock", "")
    with pytest.raises(
        RuntimeError,
        match="is locked: wait for the call that works there; if it was killed, and nothing of it runs any more, ",
    ):
        call(plan, out, monkeypatch)
    assert lock.exists() and failed.exists() and not (out / "options").exists()


@pytest.mark.parametrize(
    ("jobs", "environment", "profile", "threads"),
    [
        (1, {}, None, 6),
        (2, {}, None, 3),
        (9, {}, None, 1),
        (2, {"OMP_NUM_THREADS": "4"}, None, 4),
        (2, {"OMP_NUM_THREADS": "3,2"}, None, 3),
        (2, {"OMP_NUM_THREADS": "4"}, "slurm", 1),
    ],
)
def test_trainings_share_the_processors_unless_someone_knows_better(jobs, environment, profile, threads, monkeypatch):
    monkeypatch.setattr(launcher, "processors", lambda: 6)
    assert threads_of_a_training(Launch(Path(), jobs=jobs, profile=profile), environment) == threads


def test_snakemake_that_was_killed_alone_is_no_step_that_failed(plan, out, monkeypatch):
    monkeypatch.setattr(launcher, "run_engine", lambda *_: (-9, False))
    (out / plan.results).mkdir(parents=True)
    with pytest.raises(
        RuntimeError, match=f"Snakemake was ended by signal 9; what it has started may still run in {out}"
    ):
        launcher.run_workflow(plan, Launch(out), out, out / plan.results)


def words(**settings):
    """The command line of Snakemake."""
    folder = Path("run")
    return " ".join(engine_command(Launch(folder, **settings), folder, folder / "plan.yaml", 2))


def test_a_cluster_gets_as_many_jobs_as_its_profile_says_or_the_call():
    assert " --cores 2" in words() and " --cores 6" in words(jobs=3) and "--jobs" not in words(jobs=3)
    assert "--jobs" not in words(profile="slurm") and "--cores" not in words(profile="slurm", jobs=3)
    assert words(profile="slurm", jobs=3).endswith(" --jobs 3")


def test_a_profile_is_that_of_the_call_or_none(tmp_path, monkeypatch):
    monkeypatch.setenv("SNAKEMAKE_PROFILE", str(tmp_path))
    assert "SNAKEMAKE_PROFILE" not in environment()
    assert " --workflow-profile none --profile none " in words()
    assert f" --workflow-profile none --profile {launcher.WORKFLOW}/profiles/slurm " in words(profile="slurm")
    assert " --profile mine " in words(profile="mine")


def test_every_step_runs_the_code_of_this_clone(tmp_path, monkeypatch):
    """Not that of a copy which is installed, too."""
    write(tmp_path / "recurrent_mt" / "__init__.py", "")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    line = [sys.executable, "-c", "import recurrent_mt; print(recurrent_mt.__file__)"]
    found = subprocess.run(line, env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()) == PROJECT / "recurrent_mt" / "__init__.py"
