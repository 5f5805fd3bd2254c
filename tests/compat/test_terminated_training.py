"""Asked to end, fairseq-train leaves with the status that a shell gives the signal; afterwards, all is as before."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time

import fairseq_cli.train
import pytest

from fairseq_compat.repairs.train import ending_on_request


class Interrupted:
    """Options of a training that gets the signal when it first looks at them."""

    def __getattr__(self, name: str) -> object:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the training went on")


def handled(*_: object) -> None:
    """A program's own response to the signal."""


@pytest.fixture(autouse=True)
def own_handler():
    before = signal.signal(signal.SIGTERM, handled)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_terminated_training_exits_as_a_shell_reports_it_and_the_log_says_how_it_continues(caplog):
    def main(_):
        signal.raise_signal(signal.SIGTERM)
        pytest.fail("the training went on")

    with caplog.at_level(logging.INFO), pytest.raises(SystemExit) as end:
        ending_on_request()(main)("options")
    assert end.value.code == 143
    assert "SIGTERM: training stops here; rerun the same command to resume from checkpoint_last.pt" in caplog.text
    assert signal.getsignal(signal.SIGTERM) is handled


def test_fairseq_train_is_repaired(caplog):
    with caplog.at_level(logging.INFO), pytest.raises(SystemExit) as end:
        fairseq_cli.train.main(Interrupted())
    assert end.value.code == 143
    assert "SIGTERM: training stops here" in caplog.text


def test_a_training_that_ends_by_itself_leaves_the_programs_own_handler():
    with ending_on_request():
        assert signal.getsignal(signal.SIGTERM) is not handled
    assert signal.getsignal(signal.SIGTERM) is handled


def test_a_failed_training_leaves_the_programs_own_handler():
    def main(_):
        raise FloatingPointError

    with pytest.raises(FloatingPointError):
        ending_on_request()(main)("options")
    assert signal.getsignal(signal.SIGTERM) is handled


def test_a_training_in_another_thread_sets_no_handler():
    """Python allows that in the main thread alone."""
    returned = []
    train = ending_on_request()(lambda: returned.append(signal.getsignal(signal.SIGTERM)))
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert returned == [handled]


class Deleted:
    """An object that is being deleted when the signal comes: Python ignores what is raised there."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_comes_while_an_object_is_deleted_is_not_lost():
    def main(_):
        Deleted()
        time.sleep(60)
        pytest.fail("the training went on")

    hook = sys.unraisablehook
    with pytest.raises(SystemExit) as end:
        ending_on_request()(main)("options")
    assert end.value.code == 143
    assert sys.unraisablehook is hook


def test_an_error_on_the_way_out_does_not_change_the_status():
    """PyTorch's, for one, where the signal comes while a checkpoint is written."""

    def main(_):
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            raise RuntimeError("unexpected pos")

    with pytest.raises(SystemExit) as end:
        ending_on_request()(main)("options")
    assert end.value.code == 143
