"""What becomes of failed jobs, without an engine: which trainings stay failed, and what the same call tries again."""

from pathlib import Path

import pytest

from recurrent_mt.experiments import launcher
from recurrent_mt.experiments.console import Job
from recurrent_mt.experiments.failures import read_failure, record_failure
from recurrent_mt.experiments.launcher import Launch, launch, threads_of_a_training, training_folder
from recurrent_mt.experiments.options import PROJECT, read_experiment
from recurrent_mt.experiments.plan import make_plan

QUICKSTART = PROJECT / "configs" / "experiments" / "quickstart.yaml"


@pytest.fixture
def plan():
    return make_plan("quickstart", read_experiment(QUICKSTART, ["systems=lstm,fconv", "learning_rates=1e-3,1e-2"]))


def call(plan, out, monkeypatch, *jobs, **settings):
    """What a call says whose jobs fail, and the trainings that each run of the workflow leaves out."""
    seen = []

    def run_workflow(*_, left_out: list) -> list:
        seen.append(left_out)
        return list(jobs) if len(seen) == 1 else []

    monkeypatch.setattr(launcher, "run_workflow", run_workflow)
    return str(launch(plan, Launch(out, **settings))), seen


def job(plan, rule, system="lstm", **wildcards):
    """A job of one system, with a log that ends in an error."""
    folder = plan["systems"][system]["folder"]
    log = f"rates/{folder}/seed-1/1e-3/log" if rule == "try_rate" else f"{rule}.log"
    return Job(f"{rule} of {system}", rule, {"folder": folder, "seed": "1", **wildcards}, [log], "command", 0.0)


@pytest.mark.parametrize("rule", ["train", "try_rate", "translate"])
def test_what_left_no_reason_is_tried_again_and_the_others_get_their_tables(rule, plan, tmp_path, monkeypatch):
    said, left_out = call(plan, tmp_path, monkeypatch, job(plan, rule))
    assert said == f"{rule} of lstm (rerun the same command to try again)"
    assert left_out == [[], [("lstm", 1)]]
    assert read_failure(training_folder(plan, "lstm", 1, tmp_path)) is None


def test_what_fails_while_the_others_get_their_tables_is_named_with_its_hint(plan, tmp_path, monkeypatch):
    def run_workflow(*_, left_out: list) -> list:
        if not left_out:
            return [job(plan, "translate")]
        record_failure(training_folder(plan, "fconv", 1, tmp_path), "out of memory")
        return [job(plan, "train", "fconv")]

    monkeypatch.setattr(launcher, "run_workflow", run_workflow)
    said = str(launch(plan, Launch(tmp_path)))
    assert said == "fconv, seed 1 (--retry to try again); translate of lstm (rerun the same command to try again)"


def test_what_left_a_reason_stays_failed(plan, tmp_path, monkeypatch):
    record_failure(training_folder(plan, "lstm", 1, tmp_path), "out of memory")
    (tmp_path / "results").mkdir()
    said, left_out = call(plan, tmp_path, monkeypatch)
    assert (said, left_out) == ("lstm, seed 1 (--retry to try again)", [[("lstm", 1)]])


def test_a_rate_that_failed_ends_the_search(plan, tmp_path, monkeypatch):
    failed = job(plan, "try_rate")
    record_failure((tmp_path / failed.logs[0]).parent, "out of memory")
    (tmp_path / "results").mkdir()
    said, _ = call(plan, tmp_path, monkeypatch, failed)
    assert said == "lstm, seed 1 (--retry to try again)"
    reason = read_failure(training_folder(plan, "lstm", 1, tmp_path))
    assert reason == "no learning rate was chosen: out of memory"


def test_a_search_without_an_outcome_is_recorded(plan, tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "choose_rate.log").write_text("error: every rate diverged\n")
    said, _ = call(plan, tmp_path, monkeypatch, job(plan, "choose_rate"))
    assert said == "lstm, seed 1 (--retry to try again)"
    assert "every rate diverged" in read_failure(training_folder(plan, "lstm", 1, tmp_path))


def test_a_retry_leaves_nothing_out_and_forgets_the_reason(plan, tmp_path, monkeypatch):
    place = training_folder(plan, "lstm", 1, tmp_path)
    record_failure(place, "out of memory")
    (tmp_path / "results").mkdir()
    said, left_out = call(plan, tmp_path, monkeypatch, retry=True)
    assert (said, left_out) == ("", [[]]) and read_failure(place) is None


def test_a_failed_job_of_no_training_is_named_and_nothing_is_left_out(plan, tmp_path, monkeypatch):
    corpus = Job("Splitting words", "split_words", {"corpus": "x"}, [], "command", 0.0)
    said, left_out = call(plan, tmp_path, monkeypatch, corpus)
    assert (said, left_out) == ("Splitting words (rerun the same command to try again)", [[]])


def test_a_dry_run_leaves_nothing_behind(plan, tmp_path, monkeypatch):
    assert call(plan, tmp_path / "run", monkeypatch, dry_run=True) == ("", [[]])
    assert not list(tmp_path.iterdir())


def test_a_folder_of_something_else_is_refused(plan, tmp_path, monkeypatch):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="is not empty, and no run folder of this project: choose another with out="):
        call(plan, tmp_path, monkeypatch)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("jobs", "environment", "profile", "threads"),
    [
        (1, {}, None, 6),
        (2, {}, None, 3),
        (4, {}, None, 1),
        (9, {}, None, 1),
        (1, {"OMP_NUM_THREADS": ""}, None, 6),
        (2, {"OMP_NUM_THREADS": "4"}, None, 4),
        (2, {"OMP_NUM_THREADS": "4"}, "slurm", 1),
    ],
)
def test_trainings_share_the_processors_unless_someone_knows_better(jobs, environment, profile, threads, monkeypatch):
    monkeypatch.setattr(launcher, "processors", lambda: 6)
    assert threads_of_a_training(Launch(Path(), jobs=jobs, profile=profile), environment) == threads
