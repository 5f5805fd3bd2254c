"""What is tried again, what is named as failed, who may work in a folder, and where caches are: without Snakemake."""

import os
import platform
import shutil
import signal
import subprocess
import sys
from errno import ENOLCK
from pathlib import Path

import psutil
import pytest

from recurrent_mt.file_lock import lock_file
from recurrent_mt.runs import launcher
from recurrent_mt.runs.experiment import PROJECT, read_experiment
from recurrent_mt.runs.launcher import (
    LOCK,
    Launch,
    engine_command,
    environment,
    find_failed,
    find_home,
    launch,
    read_holder,
    run_engine,
    take_over,
    threads_of_a_training,
)
from recurrent_mt.runs.plan import make_plan
from recurrent_mt.text_files import FileError
from tests.waiting import wait_until

QUICKSTART = PROJECT / "configs" / "experiments" / "quickstart.yaml"
OUT_OF_MEMORY = "failed\nout of memory\nupdate 80\n"
HOST = platform.node()
DIVERGED = "diverged\ndiverged: loss or gradient is not a number\n"


@pytest.fixture
def plan():
    return make_plan("quickstart", read_experiment(QUICKSTART, ["systems=lstm,fconv", "learning_rates=1e-3,1e-2"]))


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


def test_a_failed_search_is_tried_again_but_for_rates_that_diverged(plan, out):
    folder = plan.systems["lstm"].search
    for name, text in {"1e-2": DIVERGED, "1e-3": OUT_OF_MEMORY}.items():
        write(out / folder / "seed-1" / name / "outcome", text)
    write(out / folder / "outcome", OUT_OF_MEMORY)
    write(outcome(plan, out), OUT_OF_MEMORY)
    assert not find_failed(plan, out, trainings=False)
    expected = [out / folder / "outcome", out / folder / "seed-1" / "1e-3" / "outcome", outcome(plan, out)]
    assert list(find_failed(plan, out, trainings=True)) == expected


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


def snapshot(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("changes", [["beam=7"], ["systems=lstm"], ["updates=7"], []], ids=" ".join)
def test_a_folder_that_was_copied_without_its_links_is_refused_and_stays_as_it_is(changes, tmp_path, out, monkeypatch):
    """Its old table and report would stay under the names that a call announces for the new ones."""

    def plan_of(*changes):
        systems = [] if "systems=lstm" in changes else ["systems=lstm,fconv"]
        return make_plan("quickstart", read_experiment(QUICKSTART, [*systems, *changes]))

    made = {f"{plan_of().results}/{name}": "old\n" for name in ("table.txt", "report.html")}
    log = outcome(plan_of(), out).with_name("train.log")
    call(plan_of(), out, monkeypatch, makes={**{out / file: text for file, text in made.items()}, log: "log\n"})
    copy = tmp_path / "copy"
    # It leaves out links that lead nowhere yet, and says so.
    subprocess.run(["cp", "-rL", out, copy], capture_output=True)
    before = snapshot(copy)
    with pytest.raises(
        FileError, match=r"copy/.* a link to results must be here and none is, as after a copy that does"
    ):
        call(plan_of(*changes), copy, monkeypatch, makes={copy / "trained": ""})
    after = snapshot(copy)
    assert before.items() <= after.items() and copy / "trained" not in after
    # With its links, it is like the first.
    whole = tmp_path / "whole"
    shutil.copytree(out, whole, symlinks=True)
    new = plan_of(*changes)
    call(new, whole, monkeypatch, makes={whole / new.results / "table.txt": "new\n"})
    assert (whole / "table.txt").read_text() == "new\n"


@pytest.fixture
def lock(out):
    """The file that a call of this process is to lock."""
    with (out / LOCK).open("a+b") as file:
        yield file


@pytest.fixture
def worker(out):
    """Starts a process that holds the lock of the folder, for a call on a machine; it ends when its input does."""
    started = []

    def start(host=HOST):
        lines = f"import fcntl, sys; file = open({str(out / LOCK)!r}, 'a'); fcntl.flock(file, fcntl.LOCK_EX)\n"
        lines += "print('locked', flush=True); sys.stdin.read()"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started.append(subprocess.Popen([sys.executable, "-c", lines], **pipes))
        assert started[-1].stdout.readline() == b"locked\n"
        (out / LOCK).write_text(f"{host} 7\n")
        return started[-1]

    yield start
    for process in started:
        process.stdin.close()
        process.wait()


def leave_lock(out, host=""):
    """What a call leaves that was killed."""
    write(out / ".snakemake" / "log" / "2026-01-02.snakemake.log", "SLURM run ID: 7\n")
    if host:
        write(out / LOCK, f"{host} 123456789\n")
    return write(out / ".snakemake" / "locks" / "0.output.lock", "")


def test_a_second_call_waits_for_the_first_and_for_what_is_left_of_one_that_was_killed(out, worker, lock, monkeypatch):
    process, left = worker(), leave_lock(out)
    said, cancelled = [], []
    monkeypatch.setattr(launcher, "cancel_jobs", cancelled.append)

    def say(text):
        said.append(text)
        assert left.exists()
        process.stdin.close()

    take_over(out, lock, say)
    assert not left.exists() and cancelled == ["7"] and read_holder(lock) == (HOST, os.getpid())
    assert said == [f"Waiting for another call in {out}, or for what is left of it: process 7 on {HOST}."]


def test_the_lock_of_a_call_on_another_machine_stays_where_it_is_not_seen_from_here(out, lock):
    left = leave_lock(out, "another-machine")
    with pytest.raises(RuntimeError, match="locked by a call on another-machine: wait for it; if it is gone, remove "):
        take_over(out, lock, print)
    assert left.exists()


def test_a_lock_stays_where_nobody_can_tell_whether_the_call_still_works(plan, out, monkeypatch):
    def flock(*_):
        raise OSError(ENOLCK, os.strerror(ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    assert call(plan, out, monkeypatch) == ("", "")
    left = leave_lock(out)
    with pytest.raises(RuntimeError, match=r"is not known \(.*: No locks available\): wait for it; if it is "):
        call(plan, out, monkeypatch)
    assert left.exists()


def test_what_is_left_of_a_killed_call_holds_its_lock(out, lock):
    """The engine here is killed at once; its job, which Snakemake starts like this, goes on."""
    take_over(out, lock, print)
    job = [sys.executable, "-c", "import time; time.sleep(600)"]
    engine = f"import os, subprocess; print(subprocess.Popen({job}).pid, flush=True); os.kill(os.getpid(), 9)"
    file = out / "pid"
    line = ["sh", "-c", 'exec "$0" -c "$1" > "$2"', sys.executable, engine, str(file)]
    assert run_engine(line, os.environ, lock, patience=None) == (-signal.SIGKILL, False)
    job = psutil.Process(int(file.read_text()))
    lock.close()
    with (out / LOCK).open("a+b") as other:
        assert not lock_file(other.fileno())
        job.kill()
        wait_until(lambda: lock_file(other.fileno()))


@pytest.mark.parametrize(
    ("jobs", "environment", "profile", "threads"),
    [
        (1, {}, None, 6),
        (2, {}, None, 3),
        (4, {}, None, 1),
        (9, {}, None, 1),
        (1, {"OMP_NUM_THREADS": ""}, None, 6),
        (2, {"OMP_NUM_THREADS": "4"}, None, 4),
        (2, {"OMP_NUM_THREADS": "3,2"}, None, 3),
        (2, {"OMP_NUM_THREADS": "4"}, "slurm", 1),
    ],
)
def test_trainings_share_the_processors_unless_someone_knows_better(jobs, environment, profile, threads, monkeypatch):
    monkeypatch.setattr(launcher, "processors", lambda: 6)
    assert threads_of_a_training(Launch(Path(), jobs=jobs, profile=profile), environment) == threads


@pytest.mark.parametrize("given", ["0", "-1", "abc", "2.5"])
def test_a_number_of_threads_that_is_none_is_named(given):
    with pytest.raises(ValueError, match=f"OMP_NUM_THREADS is '{given}': set it to a whole number above zero"):
        threads_of_a_training(Launch(Path()), {"OMP_NUM_THREADS": given})


def test_a_cluster_gets_as_many_jobs_as_its_profile_says_or_the_call(tmp_path):
    def words(**settings):
        return " ".join(engine_command(Launch(tmp_path, **settings), tmp_path, tmp_path / "plan.json", 2))

    assert " --cores 2" in words() and " --cores 6" in words(jobs=3) and "--jobs" not in words(jobs=3)
    assert "--jobs" not in words(profile="slurm") and "--cores" not in words(profile="slurm", jobs=3)
    assert words(profile="slurm", jobs=3).endswith(" --jobs 3")


def test_a_profile_is_that_of_the_call_or_none(tmp_path, monkeypatch):
    def words(**settings):
        return " ".join(engine_command(Launch(tmp_path, **settings), tmp_path, tmp_path / "plan.json", 2))

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


@pytest.mark.parametrize("home", ["/dev/null/none", None])
def test_caches_are_in_the_run_folder_where_there_is_no_home_to_write_to(home, tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR"):
        monkeypatch.delenv(name, raising=False)
    if home:
        monkeypatch.setenv("HOME", home)
    else:
        # Of a user without an entry among the machine's users, ~ stays as it is.
        monkeypatch.setattr("os.path.expanduser", lambda path: path)
    cache = f"{tmp_path}/.cache"
    expected = {"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": f"{cache}/matplotlib"} | ({} if home else {"HOME": cache})
    assert find_home(tmp_path) == expected


def test_caches_stay_where_they_are_if_they_can_be_written_but_on_a_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("MPLCONFIGDIR", "/elsewhere")
    assert find_home(tmp_path) == {}
    # Other machines may have no home folder.
    cache = f"{tmp_path}/.cache"
    assert find_home(tmp_path, shared=True) == {"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": "/elsewhere"}


def test_a_user_without_a_name_has_a_number(tmp_path, monkeypatch):
    def getuser():
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("getpass.getuser", getuser)
    assert find_home(tmp_path) == {"USER": str(os.getuid())}
