"""recurrent-mt peak-memory: what it measures, keeps, and passes on."""

import signal
import subprocess
import sys
import time

import pytest

from tests.commands import command_line

MEBIBYTE = 2**20


def peak_memory(file, *command):
    return command_line("recurrent-mt", "peak-memory", file, *command)


def holding(mebibytes, then=""):
    return [sys.executable, "-c", f"text = b'x' * ({mebibytes} * {MEBIBYTE}); print('held', flush=True); {then}"]


def test_the_peak_over_all_calls_is_kept(tmp_path):
    file = tmp_path / "peak"
    for mebibytes, least in ((60, 60), (120, 120), (1, 120)):
        subprocess.run(peak_memory(file, *holding(mebibytes)), check=True, capture_output=True)
        assert least < int(file.read_text()) / MEBIBYTE < least + 40
    assert [path.name for path in tmp_path.iterdir()] == ["peak"]


def test_output_and_status_are_the_commands(tmp_path):
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    done = subprocess.run(peak_memory(tmp_path / "peak", sys.executable, "-c", script), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")
    killed = holding(1, "import os; os.kill(os.getpid(), 9)")
    assert subprocess.run(peak_memory(tmp_path / "peak", *killed), capture_output=True).returncode == 128 + 9
    missing = subprocess.run(peak_memory(tmp_path / "peak", "no-such-command"), capture_output=True, text=True)
    assert missing.returncode == 1 and "error: " in missing.stderr and "no-such-command" in missing.stderr


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the kernel says it of a running process on Linux only"
)
def test_a_kill_leaves_the_peak_so_far(tmp_path):
    file = tmp_path / "peak"
    process = subprocess.Popen(
        peak_memory(file, *holding(60, "import time; time.sleep(60)")),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=True)
    assert process.wait() == -signal.SIGKILL
    assert int(file.read_text()) / MEBIBYTE > 60
