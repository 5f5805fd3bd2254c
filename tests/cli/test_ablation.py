"""An ablation, one new file, end to end: an interruption, a training that fails, and one that is shared."""

import json
import os
import signal
import subprocess

import pytest

from tests.cli.recipes import command, environment, needs_tools, run, write_corpus
from tests.waiting import wait_until

pytestmark = [needs_tools, pytest.mark.slow]

EXPERIMENT = """
pair: fr-en
segmentation: word:40
updates: 20
max_tokens: 300
beam: 2
seeds: [1, 2]
flags:
  arch: gru_encoder
  encoder-embed-dim: 16
  encoder-hidden-size: 16
  decoder-embed-dim: 16
  decoder-hidden-size: 16
  decoder-out-embed-dim: 16
baseline: plain
systems:
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
    (folder / "mine.yaml").write_text(EXPERIMENT)
    return folder


def ablation(folder, *arguments, file="mine.yaml"):
    return command("ablation.sh", folder / file, "--jobs", 2, *arguments, corpus=folder / "corpus", out=folder / "out")


@pytest.fixture(scope="module")
def whole(folder):
    """The output of the call that continued after one was stopped when its first training had ended."""
    process = subprocess.Popen(
        ablation(folder), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    wait_until(lambda: list((folder / "out").glob("trainings/*/seed-*/outcome")), process)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate()
    assert process.returncode == 1 and "stopped; rerun the same command to resume" in said
    assert not running(folder), "a training went on after the stop"
    return run(ablation(folder), succeeds=False)


def running(folder):
    """Processes that work in the folder."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{number}/cwd").startswith(f"{folder}/out"):
                found.append(number)
        except OSError:
            continue
    return found


def test_a_new_file_is_run_from_text_to_table_with_a_stop_on_the_way(whole, folder):
    results = json.loads((folder / "out" / "mine.json").read_text())
    names = ["plain", "skip-io", "no-such-layer", "diverging", "few-words"]
    assert [system["name"] for system in results["systems"]] == names and results["baseline"] == "plain"
    bleu = [record for record in results["records"] if record["metric"] == "BLEU" and record["seed"]]
    seeds = {(record["system"], record["seed"]) for record in bleu}
    assert seeds == {(name, seed) for name in ("plain", "skip-io", "few-words") for seed in ("1", "2")}


def test_failed_systems_are_named_and_stop_no_other(whole, folder):
    table = (folder / "out" / "mine.txt").read_text()
    assert "diverging, seed 1, failed: diverged: loss or gradient is not a number." in table
    assert "no-such-layer, seed 2, failed: failed with status 1" in table
    assert "error: failed: " in whole and "no-such-layer, seed 1" in whole


def test_experiments_share_systems_that_are_the_same_and_no_others(whole, folder):
    (folder / "other.yaml").write_text(EXPERIMENT.partition("  no-such")[0])
    assert "fairseq-train" not in run(ablation(folder, file="other.yaml"))
    changed = EXPERIMENT.partition("  no-such")[0].replace("{skip-io: true}", "{skip-time: 2}")
    (folder / "changed.yaml").write_text(changed)
    said = run(ablation(folder, "--dry-run", file="changed.yaml"))
    assert said.count("fairseq-train ") == 2 and said.count("--skip-time 2") == 2
