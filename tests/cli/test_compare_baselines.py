"""A comparison with fairseq's own models end to end: a second test set, failure, stop, wall time."""

import os
import re
import signal
import subprocess

import pytest
import torch

from tests.cli.recipes import TINY, command, environment, needs_tools, read_table, run, unlock, values, write_corpus
from tests.waiting import wait_until, written

pytestmark = [needs_tools, pytest.mark.slow]

SYSTEMS = ("fconv", "transformer")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("comparison") / "corpus")


def comparison(corpus, *arguments, out="trained", **options):
    fixed = {**TINY, "corpus": corpus, "pair": "fr-en", "segmentation": "word:40", "out": corpus.parent / out}
    return command("compare_baselines.sh", *arguments, **{**fixed, **options})


def two_seeds(corpus):
    options = {"seeds": "1,2", "extra_tests": f"far={corpus}/valid", "systems": ",".join(SYSTEMS)}
    return comparison(corpus, "--jobs", 2, **options)


@pytest.fixture(scope="module")
def whole(corpus):
    """The folder, and the output of the call that continued after one was stopped during its trainings."""
    out = corpus.parent / "trained"
    said = stop_when(two_seeds(corpus), signal.SIGTERM, lambda: list(out.glob("trainings/*/seed-1/outcome")))
    assert "stopped; rerun the same command to resume" in said
    return out, run(two_seeds(corpus))


def stop_when(line, number, condition):
    """The output of a recipe that got a signal once the condition held; a kill is for all that it started, too."""
    process = subprocess.Popen(
        line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    wait_until(condition, process)
    if number == signal.SIGTERM:
        process.terminate()
    else:
        os.killpg(process.pid, number)
    said, _ = process.communicate()
    return said


def test_every_system_is_trained_once_and_scored(whole):
    out, said = whole
    content = read_table(out)
    assert content["baseline"] == "fconv"
    assert [system["name"] for system in content["systems"]] == list(SYSTEMS)
    for log in out.glob("systems/*/seed-*/train.log"):
        # A training that was stopped after its last update ends in no time when it goes on.
        assert len(re.findall(r"done training in (?!0\.0 )", log.read_text())) == 1
    assert content["seeds"] == [1, 2] and values(out, "updates") == dict.fromkeys(SYSTEMS, 30)
    assert [test_set["name"] for test_set in content["test_sets"]] == ["", "far"]
    for test_set in content["test_sets"]:
        for metric in test_set["signatures"]:
            for seed in ("1", "2"):
                assert sorted(values(out, metric, test_set=test_set["name"], seed=seed)) == sorted(SYSTEMS)
    tested = [record for record in content["records"] if record["p"] is not None]
    assert {(record["test_set"], record["system"]) for record in tested} == {
        ("", "transformer"),
        ("far", "transformer"),
    }
    assert (out / "table.txt").read_text() in said


def test_a_failing_system_does_not_stop_the_others(corpus):
    line = comparison(corpus, learning_rate="1e38", systems="lstm,rnnsearch-30-small", out="failing")
    said = run(line, succeeds=False)
    assert "Training lstm, seed 1: failed" in said and "  The whole log: " in said
    assert "error: failed: lstm, seed 1 (--retry to try again)" in said
    text = (corpus.parent / "failing" / "table.txt").read_text()
    assert "lstm, seed 1, failed: diverged: loss or gradient is not a number" in text
    assert "lstm has no translation: the others are compared with rnnsearch-30-small." in text
    assert (corpus.parent / "failing" / "report.html").exists()
    again = run(line, succeeds=False)
    assert "Failed before: lstm, seed 1: diverged" in again and "fairseq-train" not in again
    assert "Training lstm" in run([*line, "--retry"], succeeds=False)


def test_a_wall_time_budget_survives_interruptions(corpus):
    """Validations count, and so does the time before a kill, up to the last checkpoint; what was lost is trained
    again."""
    options = {key: value for key, value in TINY.items() if key != "updates"}
    fixed = {"corpus": corpus, "pair": "fr-en", "segmentation": "word:40", "out": corpus.parent / "timed"}
    line = command("compare_baselines.sh", **{**options, **fixed, "systems": "transformer", "minutes": ".5"})
    folders = (corpus.parent / "timed" / "trainings").glob

    def logged():
        return "".join(map(written, folders("transformer-*/seed-1/train.log")))

    def trained_for():
        """Seconds, as the last checkpoint has them."""
        (checkpoint,) = [*folders("*/seed-1/checkpoints/checkpoint_last.pt")] or [None]
        return torch.load(checkpoint, weights_only=False)["extra_state"]["previous_training_time"] if checkpoint else 0

    said = stop_when(line, signal.SIGINT, lambda: "Start iterating over samples" in logged())
    assert "stopped; rerun the same command to resume" in said
    assert not list(folders("*/seed-1/outcome"))
    stop_when(line, signal.SIGKILL, lambda: trained_for() > 5)
    unlock(corpus.parent / "timed")
    before = max(map(int, re.findall(r'num_updates": "(\d+)"', logged())))
    run(line)
    text = logged()
    (stop,) = re.findall(r"cumulative_training_time: ([\d.]+) > stop_time_hours: 0.008333", text)
    assert float(stop) * 60 > 0.5
    out = corpus.parent / "timed"
    assert values(out, "updates")["transformer"] > before and values(out, "peak memory, bytes")["transformer"] > 100e6
    (seconds,) = re.findall(r"done training in ([\d.]+) seconds", text.split("Loaded checkpoint")[-1])
    assert trained_for() > float(seconds), "the time before the kill was not counted"


def test_two_processes_train_one_system_together(corpus):
    said = run(comparison(corpus, systems="gru_encoder-none", updates=4, processes=2, out="together"))
    assert "recurrent-mt training --processes 2 " in said
    assert values(corpus.parent / "together", "updates") == {"gru_encoder-none": 4}
