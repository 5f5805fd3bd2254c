"""The measurement of what it takes to prepare text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.preparation import main, measure_step, name_of, table, vary_pairs
from tests.cli.recipes import ROOT, needs_tools, write_corpus

PAIRS = [("M. Barroso a 12 voix.", "Mr Barroso has 12 votes."), ("Oui.", "Yes.")]


def test_text_that_is_repeated_has_other_names_and_numbers_on_both_sides_alike():
    varied = list(vary_pairs(PAIRS * 50, 3))
    assert varied[:100] == PAIRS * 50 and len(varied) == 300
    for source, target in varied[100:]:
        assert source.partition(": ")[0] == target.partition(": ")[0]
    votes = [(source.split()[-2], target.split()[-2]) for source, target in varied[100::2]]
    assert all(first == second for first, second in votes)
    assert len(set(varied)) > 200


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("set -euo pipefail; recurrent-mt words split --language fr < a > b", "recurrent-mt words split"),
        ("set -euo pipefail; rm -rf x.new && recurrent-mt get local a --pair fr-en", "recurrent-mt get local"),
        ("set -euo pipefail; python -m subword_nmt.learn_bpe --symbols 9", "subword_nmt.learn_bpe"),
        ("set -euo pipefail; fairseq-preprocess --workers 2", "fairseq-preprocess"),
    ],
)
def test_a_step_has_the_name_of_its_tool(line, name):
    assert name_of(line) == name


def test_what_measures_a_step_does_not_add_to_its_memory(tmp_path):
    line = [sys.executable, "-m", "benchmarks.preparation", "--step", "set -euo pipefail; cat /dev/null"]
    subprocess.run(line, env={**os.environ, "MEASURES": str(tmp_path / "steps")}, cwd=ROOT, check=True)
    assert json.loads((tmp_path / "steps").read_text())["largest"] < 60_000_000


def test_a_step_is_measured_with_what_it_starts(tmp_path, capfd):
    line = "set -euo pipefail; python3 -c 'x = bytearray(50_000_000); print(sum(range(10**6)))' | cat; (exit 3)"
    assert measure_step(line, tmp_path / "steps") == 3
    assert capfd.readouterr().out == "499999500000\n"
    record = json.loads((tmp_path / "steps").read_text())
    assert record["status"] == 3 and record["cpu"] > 0 and record["largest"] > 50_000_000
    good = {**record, "status": 0}
    *_, row = table(map(json.dumps, (record, good, good)))
    assert row.startswith("| `cat` | 2 |")


def test_another_corpus_is_another_text_and_other_steps(tmp_path, monkeypatch):
    calls = []

    def run(call, env):
        calls.append(call)
        Path(env["MEASURES"]).touch()
        return subprocess.CompletedProcess(call, 0)

    monkeypatch.setattr(subprocess, "run", run)
    corpus = write_corpus(tmp_path / "corpus")
    for change in (None, "Un chat.\n", None):
        if change:
            (corpus / "valid.fr").write_text(change)
        main([str(corpus), "--out", str(tmp_path / "out")])
    first, second, third = (call[2] for call in calls)
    assert first != second == third and len(list((tmp_path / "out").glob("steps-*.jsonl"))) == 2


@pytest.mark.slow
@needs_tools
def test_every_step_of_the_recipe_is_in_the_table(tmp_path, capfd):
    corpus = write_corpus(tmp_path / "corpus")
    call = [
        str(corpus),
        "--out",
        str(tmp_path / "out"),
        "--repeat",
        "3",
        "segmentation=bpe:30",
        "shards=2",
        "cleaning=false",
    ]
    assert main(call) == 0
    said = capfd.readouterr().out
    words = ("recurrent-mt words split", "recurrent-mt words segment")
    for tool in (*words, "subword_nmt.learn_bpe", "fairseq-preprocess"):
        assert f"| `{tool}` |" in said
    assert "data: " in said and len(next((tmp_path / "out").glob("text-3-*/train.fr")).read_text().splitlines()) == 360
