"""recurrent-mt training: what it measures, keeps, and passes on."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from recurrent_mt.runs.processes import share_threads
from recurrent_mt.versions import describe_versions
from tests.commands import call, command_line
from tests.waiting import wait_until, written

MEBIBYTE = 2**20


@pytest.fixture(autouse=True)
def handlers():
    """What this process does about signals, which the tool changes."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before):
        signal.signal(number, handler)


def train(folder, *command, status=0):
    """Runs the tool here: what it measures and stops is tested with `training`."""
    done = call("training", folder, *command)
    assert done.returncode == status, done.stderr
    return done


def training(folder, *command):
    return command_line("recurrent-mt", "training", folder, *command)


def python(program):
    return [sys.executable, "-c", program]


def holding(mebibytes, then=""):
    return python(f"text = b'x' * ({mebibytes} * {MEBIBYTE}); print('held', flush=True); {then}")


def test_the_peak_over_all_calls_is_kept(tmp_path):
    for mebibytes, least in ((60, 60), (120, 120), (1, 120)):
        subprocess.run(training(tmp_path, *holding(mebibytes)), check=True, capture_output=True)
        assert least < int((tmp_path / "peak-memory").read_text()) / MEBIBYTE < least + 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outcome", "peak-memory", "train.log"]


def test_a_log_is_continued_and_a_line_cut_off_swallows_none(tmp_path):
    (tmp_path / "train.log").write_text("cut o")
    train(tmp_path, *python("print('whole')"))
    assert (tmp_path / "train.log").read_text() == "cut o\nwhole\n"


def test_two_trainings_do_not_write_in_one_folder(tmp_path):
    """What a killed call has left behind goes on, and holds its log."""
    first = subprocess.Popen(training(tmp_path, *holding(1, "import time; time.sleep(60)")))
    wait_until(lambda: "held" in written(tmp_path / "train.log"))
    (left,) = psutil.Process(first.pid).children()
    first.kill()
    first.wait()
    try:
        assert "another training still writes" in train(tmp_path, *python("print('second')"), status=1).stderr
        assert "second" not in (tmp_path / "train.log").read_text()
    finally:
        left.kill()
    wait_until(lambda: call("training", tmp_path, *python("print('third')")).returncode == 0)


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
def test_a_failure_is_an_outcome_until_the_next_call(program, reason, tmp_path):
    train(tmp_path, *python(program))
    status, said, *log, made_by = (tmp_path / "outcome").read_text().splitlines()
    assert status == ("diverged" if reason.startswith("diverged") else "failed") and said == reason
    assert log == (tmp_path / "train.log").read_text().splitlines()[-15:]
    assert made_by == f"made by {describe_versions()}"
    train(tmp_path, *python("pass"))
    assert (tmp_path / "outcome").read_text() == f"finished\n{made_by}\n"


def test_a_full_disk_interrupts_a_training_and_leaves_no_outcome(tmp_path):
    """Rerun, the experiment goes on; a failure would wait for --retry."""
    full = python("raise OSError(28, 'No space left on device')")
    train(tmp_path, *full, status=1)
    assert not (tmp_path / "outcome").exists()
    train(tmp_path, *python("raise SystemExit('no such layer')"))
    assert (tmp_path / "outcome").read_text().startswith("failed\nfailed with status 1: no such layer\n")


def test_a_step_that_a_full_disk_interrupts_has_no_outcome(tmp_path):
    log, file = tmp_path / "log", tmp_path / "test.outcome"
    log.write_text("error: [Errno 28] No space left on device: 'test.detokenized'\n")
    assert call("outcome", file, "--log", log, "--status", 1).returncode == 1 and not file.exists()
    log.write_text("error: no such file\n")
    assert call("outcome", file, "--log", log, "--status", 1).returncode == 0 and file.exists()


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, None), (signal.SIGTERM, 1), (signal.SIGHUP, None), (signal.SIGINT, 1)],
    ids=["SIGTERM", "SIGTERM, with status 1 as torchrun", "SIGHUP", "SIGINT, with status 1"],
)
def test_a_stopped_command_has_not_failed(number, status, tmp_path):
    """Slurm and terminals send a signal to the command as well."""
    end = "signal.SIG_DFL" if status is None else f"lambda *_: sys.exit({status})"
    program = f"import signal, sys, time; signal.signal({number:d}, {end}); print('ready', flush=True); time.sleep(60)"
    process = subprocess.Popen(training(tmp_path, *python(program)), start_new_session=True)
    wait_until(lambda: "ready" in written(tmp_path / "train.log"), process)
    os.killpg(process.pid, number)
    assert process.wait() == 128 + number
    assert not (tmp_path / "outcome").exists()


def test_processes_share_the_threads_of_a_training():
    found = [share_threads({"OMP_NUM_THREADS": given, "MKL_NUM_THREADS": "4,2"}, 2) for given in ("5", "1")]
    assert found == [{"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": "4,2"} for threads in ("2", "1")]


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


def test_a_damaged_peak_is_named(tmp_path):
    (tmp_path / "peak-memory").write_text("much")
    done = train(tmp_path, "true", status=1)
    assert "peak-memory: must be a number of bytes, not 'much'" in done.stderr


def test_a_command_that_does_not_exist_is_named(tmp_path):
    missing = train(tmp_path, "no-such-command", status=1)
    assert "error: " in missing.stderr and "no-such-command" in missing.stderr
