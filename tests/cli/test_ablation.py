"""An ablation end to end: a queue that survives an interruption, a cell that fails, plans that share cells."""

import json
import os
import signal
import subprocess
import time

import pytest

from tests.cli.recipes import command, environment, needs_tools, run, write_corpus

pytestmark = [needs_tools, pytest.mark.slow]

PLAN = """
recipe: {segmentation: "word:40", updates: 20, max-tokens: 300, beam: 2, seeds: "1,2"}
train:
  arch: gru_encoder
  encoder-embed-dim: 16
  encoder-hidden-size: 16
  decoder-embed-dim: 16
  decoder-hidden-size: 16
  decoder-out-embed-dim: 16
base: plain
cells:
  plain: {}
  skip-io: {skip-io: true}
  no-such-layer: {encoder-layers: 0}
  diverging: {lr: 1e38, clip-norm: 0}
  few-words: {segmentation: "word:4"}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablation")
    write_corpus(folder / "corpus")
    (folder / "plan.yaml").write_text(PLAN)
    return folder


def ablation(folder, *arguments, plan="plan.yaml"):
    return command("ablation.sh", folder / plan, *arguments, corpus=folder / "corpus", out=folder / "out", jobs=2)


def finished(folder):
    return list((folder / "out").glob("word-40/systems/*/seed-*/operations.json"))


@pytest.fixture(scope="module")
def whole(folder):
    """The output of the call that continued after one was stopped when its first cell had ended."""
    process = subprocess.Popen(
        ablation(folder), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + 600
    while not finished(folder):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "stopped; the same call continues from here" in said
    assert not running(folder), "a training went on after the stop"
    return run(ablation(folder))


def running(folder):
    """Processes that have the folder on their command line."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline") as file:
                text = file.read()
        except OSError:
            continue
        if f"{folder}/out" in text and "fairseq" in text:
            found.append(text)
    return found


def test_a_stopped_ablation_goes_on_to_the_whole_table(whole, folder):
    assert "Done before: " in whole
    results = json.loads((folder / "out" / "plan.json").read_text())
    assert [cell["name"] for cell in results["cells"]] == [
        "plain",
        "skip-io",
        "no-such-layer",
        "diverging",
        "few-words",
    ]
    scores = {row["system"]: row["scores"][0]["by_seed"] for row in results["metrics"][0]["overall"]["systems"]}
    assert {name: sorted(seeds) for name, seeds in scores.items()} == {
        name: ["1", "2"] for name in ("plain", "skip-io", "few-words")
    }


def test_failed_cells_are_named_and_stop_no_other(whole, folder):
    table = (folder / "out" / "plan.txt").read_text()
    assert "diverging, seed 1, failed: diverged: loss or gradient is not a number." in table
    assert "no-such-layer, seed 2, failed: error: training no-such-layer with seed 2 failed with status 1" in table
    assert (folder / "out" / "plan-cells.svg").exists()


def test_a_second_call_of_an_ablation_trains_nothing(whole, folder):
    said = run(ablation(folder))
    assert "begins" not in said
    assert said.count("Done before: ") >= 6 and said.count("Failed before: ") == 4


def test_plans_share_cells_that_are_the_same(whole, folder):
    (folder / "other.yaml").write_text(PLAN.replace("  skip-io: {skip-io: true}\n", "").split("  no-such")[0])
    assert "begins" not in run(ablation(folder, plan="other.yaml"))
    (folder / "changed.yaml").write_text(PLAN.replace("{skip-io: true}", "{skip-time: 2}"))
    said = run(ablation(folder, plan="changed.yaml"), succeeds=False)
    assert "cell skip-io was trained with other flags" in said and "--skip-time 2" in said


def test_a_bad_plan_is_refused_before_anything_is_done(folder, tmp_path):
    (folder / "bad.yaml").write_text("cells: {}\n")
    assert "bad.yaml: base is None" in run(ablation(folder, plan="bad.yaml"), succeeds=False)
    assert "which plan?" in run(command("ablation.sh", "--jobs", "2"), succeeds=False)
