"""A call that is killed alone: what it started ends, and rerunning it resumes."""

import signal
import subprocess

import pytest

from tests.cli.recipes import TINY, needs_tools, write_corpus
from tests.commands import command_line, environment
from tests.waiting import wait_until, written

pytestmark = [needs_tools, pytest.mark.slow]

#: More updates than any machine makes before the test ends it.
OPTIONS = {**TINY, "updates": 10**7, "segmentation": "word:40", "tokenizer": "none", "systems": "gru_encoder-none"}


def test_a_call_that_is_killed_is_resumed_by_the_next(tmp_path):
    out, corpus = tmp_path / "run", write_corpus(tmp_path / "corpus")
    words = [f"{name}={value}" for name, value in {**OPTIONS, "corpus": corpus, "out": out}.items()]
    line = command_line("recurrent-mt", "experiment", "configs/experiments/quickstart.yaml", *words)

    def start():
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(line, env=environment(), **pipes)

    def log():
        return "".join(map(written, out.glob("trainings/*/seed-1/train.log")))

    def locks():
        return list(out.glob(".snakemake/locks/*"))

    first = start()
    wait_until(lambda: "train_inner" in log(), first)
    first.kill()
    wait_until(lambda: not locks())
    assert "SIGTERM: training stops here" in log()
    second = start()
    wait_until(lambda: "Loaded checkpoint" in log(), second)
    second.send_signal(signal.SIGTERM)
    said, _ = second.communicate()
    assert second.returncode == 1 and "stopped; rerun the same command to resume" in said and "failed" not in said
    assert not locks() and not list(out.glob("trainings/*/seed-1/outcome"))
