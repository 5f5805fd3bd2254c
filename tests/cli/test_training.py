"""recurrent-mt training: what it measures, keeps, and passes on, and that two never train in one folder."""

import signal
import subprocess
import sys

import pytest

from tests.commands import command_line
from tests.waiting import wait_until, written

MEBIBYTE = 2**20


def training(folder, *command, outcome=None):
    options = ["--outcome", outcome] if outcome else []
    return command_line("recurrent-mt", "training", *options, folder, *command)


def python(program):
    return [sys.executable, "-c", program]


def holding(mebibytes, then=""):
    return python(f"text = b'x' * ({mebibytes} * {MEBIBYTE}); print('held', flush=True); {then}")


def test_the_peak_over_all_calls_is_kept(tmp_path):
    for mebibytes, least in ((60, 60), (120, 120), (1, 120)):
        subprocess.run(training(tmp_path, *holding(mebibytes)), check=True, capture_output=True)
        assert least < int((tmp_path / "peak-memory").read_text()) / MEBIBYTE < least + 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["peak-memory", "train.log"]


def test_a_log_is_continued_and_a_line_cut_off_swallows_none(tmp_path):
    (tmp_path / "train.log").write_text("cut o")
    subprocess.run(training(tmp_path, *python("print('whole')")), check=True)
    assert (tmp_path / "train.log").read_text() == "cut o\nwhole\n"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise FloatingPointError('Minimum loss scale')", "diverged: loss or gradient is not a number"),
        ("raise MemoryError", "out of memory"),
        ("import os; os.kill(os.getpid(), 9)", "killed, most likely because memory ran out"),
        (
            "import sys; sys.exit('process 0 of 2 has lost the other processes: …\\n====')",
            "lost the other processes: one of them, or the network, was gone",
        ),
        ("import sys; sys.exit('no such layer')", "failed with status 1: no such layer"),
    ],
)
def test_a_failure_leaves_its_reason_until_the_next_call(program, reason, tmp_path):
    done = subprocess.run(training(tmp_path, *python(program)), capture_output=True)
    assert done.returncode != 0 and (tmp_path / "failure").read_text() == f"{reason}\n"
    subprocess.run(training(tmp_path, *python("pass")), check=True)
    assert not (tmp_path / "failure").exists()


def test_to_diverge_is_an_outcome_where_one_is_asked_for_and_other_failures_are_not(tmp_path):
    outcome = tmp_path / "outcome"
    subprocess.run(training(tmp_path, *python("raise FloatingPointError"), outcome=outcome), check=True)
    assert outcome.read_text().startswith("diverged")
    outcome.unlink()
    done = subprocess.run(training(tmp_path, *python("raise OSError"), outcome=outcome), capture_output=True)
    assert done.returncode == 1 and not outcome.exists()


def test_a_stopped_command_has_not_failed(tmp_path):
    program = "import signal, time; print('ready', flush=True); time.sleep(60)"
    process = subprocess.Popen(training(tmp_path, *python(program)))
    wait_until(lambda: "ready" in written(tmp_path / "train.log"), process)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert not (tmp_path / "failure").exists()


def test_a_second_call_waits_for_a_training_whose_own_call_was_killed(tmp_path):
    log, end = tmp_path / "train.log", tmp_path / "end"
    waits = f"import os, time\nwhile not os.path.exists({str(end)!r}): time.sleep(0.05)\n"
    first = subprocess.Popen(training(tmp_path, *python(f"print('begins', flush=True)\n{waits}print('ends')")))
    wait_until(lambda: "begins" in written(log), first)
    first.kill()
    first.wait()
    second = subprocess.Popen(training(tmp_path, *python("print('second')")))
    try:
        # When a call that started later has ended, this one has come as far as it can.
        subprocess.run(training(tmp_path / "another", *python("print('third')")), check=True)
        assert second.poll() is None and written(log) == "begins\n"
    finally:
        end.touch()
    assert second.wait() == 0
    assert log.read_text() == "begins\nends\nsecond\n"


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the kernel says it of a running process on Linux only"
)
def test_a_kill_leaves_the_peak_so_far(tmp_path):
    file = tmp_path / "peak-memory"
    process = subprocess.Popen(training(tmp_path, *holding(60, "import time; time.sleep(60)")), start_new_session=True)
    wait_until(lambda: int(written(file) or 0) / MEBIBYTE > 60, process)
    subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=True)
    assert process.wait() == -signal.SIGKILL
    assert int(file.read_text()) / MEBIBYTE > 60


def test_a_command_that_does_not_exist_is_named(tmp_path):
    missing = subprocess.run(training(tmp_path, "no-such-command"), capture_output=True, text=True)
    assert missing.returncode == 1 and "error: " in missing.stderr and "no-such-command" in missing.stderr
