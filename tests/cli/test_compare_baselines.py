"""A comparison with fairseq's own models end to end: searched rates, a second test set, failure, stop, wall time."""

import os
import re
import signal
import subprocess
import time

import pytest

from tests.cli.recipes import command, copy, environment, needs_tools, read_table, run, tiny, values, write_corpus

pytestmark = [needs_tools, pytest.mark.slow]

MODELS = ("fconv", "transformer")
RATES = "1e-2,1e38"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("comparison") / "corpus")


def comparison(corpus, *arguments, out="searched", **options):
    fixed = {"corpus": corpus, "pair": "fr-en", "segmentation": "word:40", "out": corpus.parent / out}
    return command("compare_baselines.sh", *tiny(), *arguments, **fixed, **options)


def searched(corpus, *arguments):
    return comparison(
        corpus, *arguments, "--learning-rates", RATES, "--seeds", "1,2", "--extra-test", f"far={corpus}/valid",
        models=",".join(MODELS), jobs=2,
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole(corpus):
    """The folder, and the output of the call that continued after one was stopped during its search."""
    out = corpus.parent / "searched"
    process = subprocess.Popen(
        searched(corpus), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + 300
    while not list(out.glob("rates/*/seed-1/1e-2/trained")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "stopped; the same call continues from here" in said
    return out, run(searched(corpus), timeout=900)


def test_every_model_is_searched_trained_and_scored(whole):
    out, said = whole
    content = read_table(out)
    assert content["baseline"] == "fconv"
    assert [system["name"] for system in content["systems"]] == list(MODELS)
    for system in content["systems"]:
        losses = system["rate"]["valid_losses"]
        assert system["rate"]["chosen"] == "1e-2" and losses["1e38"] is None and losses["1e-2"] > 0
    assert content["seeds"] == [1, 2] and values(out, "updates") == dict.fromkeys(MODELS, 30)
    assert [test_set["name"] for test_set in content["test_sets"]] == ["", "far"]
    for test_set in content["test_sets"]:
        for metric in test_set["signatures"]:
            for seed in ("1", "2"):
                assert sorted(values(out, metric, test_set=test_set["name"], seed=seed)) == sorted(MODELS)
    tested = [record for record in content["records"] if record["p"] is not None]
    assert {(record["test_set"], record["system"]) for record in tested} == {
        ("", "transformer"),
        ("far", "transformer"),
    }
    assert (out / "table.txt").read_text() in said
    assert "transformer: learning rate 1e-2; validation loss " in said and "diverged at 1e38 (seed 1)." in said


def test_the_chosen_rate_is_not_trained_again(whole):
    out, _ = whole
    for model in MODELS:
        assert [path.name for path in (out / "rates" / model / "seed-1").iterdir()] == ["1e38"]
        logs = {seed: (out / "systems" / model / f"seed-{seed}" / "train.log").read_text() for seed in (1, 2)}
        assert all(len(re.findall(r"done training in", log)) == 1 for log in logs.values())
        assert not list((out / "systems" / model).glob("seed-*/failure"))


def test_a_second_call_of_a_comparison_computes_nothing(whole, corpus):
    said = run(searched(corpus))
    assert "bin/fairseq" not in said and "begins" not in said
    assert said.count("Done before: ") >= len(MODELS) * 2


def test_a_different_test_set_with_the_same_name_is_refused(whole, corpus, tmp_path):
    changed = copy(corpus, tmp_path / "corpus")
    (changed / "valid.fr").write_text((changed / "valid.fr").read_text().replace("chien", "chat"))
    line = [part.replace(f"far={corpus}", f"far={changed}") for part in searched(corpus)]
    assert "test set far was a different text" in run(line, succeeds=False)


def test_a_failing_system_does_not_stop_the_others(corpus):
    line = comparison(corpus, "--learning-rate", "1e38", models="lstm,rnnsearch-30-small", out="failing")
    said = run(line, succeeds=False)
    assert "lstm, seed 1: failed: diverged: loss or gradient is not a number" in said
    assert "error: failed: lstm, seed 1 (--retry to try again)" in said
    text = (corpus.parent / "failing" / "table.txt").read_text()
    assert "lstm, seed 1, failed: diverged" in text
    assert "lstm has no translation: the others are compared with rnnsearch-30-small." in text
    assert (corpus.parent / "failing" / "report.html").exists()
    again = run(line, succeeds=False)
    assert "Failed before: lstm, seed 1: diverged" in again and "bin/fairseq" not in again
    assert "Training lstm" in run([*line, "--retry"], succeeds=False)


def stop_when(line, number, condition):
    """The output of a recipe that got a signal, as a terminal sends it, once the condition held."""
    process = subprocess.Popen(
        line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, number)
    said, _ = process.communicate(timeout=120)
    return said


def test_a_wall_time_budget_survives_interruptions(corpus):
    """Validations count, and so does the time before a kill, up to the last checkpoint; what was lost is trained
    again."""
    line = comparison(corpus, models="transformer", out="timed", minutes=".5")
    folder = corpus.parent / "timed" / "systems" / "transformer" / "seed-1"
    log = folder / "train.log"
    said = stop_when(line, signal.SIGINT, lambda: "Start iterating over samples" in read(log))
    assert "stopped; the same call continues from here" in said
    assert not (folder / "failure").exists() and not (folder / "trained").exists()
    stop_when(line, signal.SIGKILL, lambda: "Saved checkpoint" in read(log))
    before = max(map(int, re.findall(r'num_updates": "(\d+)"', read(log))))
    run(line)
    text = read(log)
    (stop,) = re.findall(r"cumulative_training_time: ([\d.]+) > stop_time_hours: 0.008333", text)
    assert float(stop) * 60 > 0.5
    out = corpus.parent / "timed"
    assert values(out, "updates")["transformer"] > before and values(out, "peak memory, bytes")["transformer"] > 100e6
    (seconds,) = re.findall(r"done training in ([\d.]+) seconds", text.split("Loaded checkpoint")[-1])
    assert float(seconds) < float(stop) * 3600, "the time before the kill was not counted"


def read(log):
    """What a log holds so far; nothing if there is none yet."""
    return log.read_text(errors="replace") if log.exists() else ""
