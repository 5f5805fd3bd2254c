"""How steps of an experiment ended: what a log and a status say, and what is read of earlier versions' files."""

from types import SimpleNamespace

import pytest

from recurrent_mt.runs.outcomes import Outcome, Reason, Status, judge, read_end, read_outcome, was_interrupted


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("done\n", 0, Outcome(Status.FINISHED)),
        ("FloatingPointError: x\n", 1, Outcome(Status.DIVERGED, Reason.DIVERGED, "FloatingPointError: x")),
        ("CUDA out of memory\n", 1, Outcome(Status.FAILED, Reason.OUT_OF_MEMORY, "CUDA out of memory")),
        ("", 137, Outcome(Status.FAILED, Reason.KILLED)),
        ("", 1, Outcome(Status.FAILED, "failed with status 1")),
        ("a\nno room\n", 2, Outcome(Status.FAILED, "failed with status 2: no room", "a\nno room")),
    ],
)
def test_a_log_and_a_status_make_an_outcome_that_is_read_again(text, status, expected, tmp_path):
    (tmp_path / "log").write_text(text)
    outcome = judge(tmp_path / "log", status)
    assert outcome == expected
    outcome.write(tmp_path / "outcome")
    assert read_outcome(tmp_path / "outcome") == expected


def test_what_an_earlier_call_left_in_the_log_is_no_reason(tmp_path):
    (tmp_path / "log").write_text("MemoryError\nno room\n")
    assert judge(tmp_path / "log", 1, start=len("MemoryError\n")).reason == "failed with status 1: no room"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("finished\n", Outcome(Status.FINISHED)),
        (f"{Reason.DIVERGED}\n", Outcome(Status.DIVERGED, Reason.DIVERGED)),
        ("skipped\n", Outcome(Status.SKIPPED)),
        ("failed\nno room\na\nb\n", Outcome(Status.FAILED, "no room", "a\nb")),
    ],
)
def test_a_rule_and_an_earlier_version_write_a_line(text, expected, tmp_path):
    (tmp_path / "outcome").write_text(text)
    assert read_outcome(tmp_path / "outcome") == expected
    assert expected.failed == (expected.status in (Status.DIVERGED, Status.FAILED))


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Status.FINISHED, versions="recurrent-mt 8996ab1, torch 2.13.0"),
        Outcome(Status.FAILED, "no room", "a\nb", "recurrent-mt 8996ab1"),
        Outcome(Status.FAILED, "no room", versions="recurrent-mt 8996ab1"),
    ],
)
def test_versions_are_kept(outcome, tmp_path):
    outcome.write(tmp_path / "outcome")
    assert read_outcome(tmp_path / "outcome") == outcome


def test_what_has_not_ended_has_no_outcome(tmp_path):
    assert read_outcome(tmp_path / "outcome") is None and read_end(tmp_path / "log", 5) == ""


@pytest.mark.parametrize(
    ("text", "status", "free", "expected"),
    [
        ("OSError: [Errno 28] No space left on device: 'x'\n", 1, 10**9, True),
        ("OSError: [Errno 122] Disk quota exceeded\nlast line\n", 1, 10**9, True),
        ("what was said had no ro", 1, 0, True),
        ("no such layer\n", 1, 10**9, False),
        ("No space left on device\n", 0, 0, False),
        ("", 143, 10**9, True),
    ],
)
def test_a_full_disk_interrupts_and_is_no_failure(text, status, free, expected, tmp_path, monkeypatch):
    (tmp_path / "log").write_text(text)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    assert was_interrupted(tmp_path / "log", status) == expected
    assert was_interrupted(tmp_path / "log", status, start=len(text)) == (expected and (status == 143 or not free))


@pytest.mark.parametrize("text", ["", "trai", "trained\n", "finished?\n"])
def test_a_damaged_file_is_named(text, tmp_path):
    (tmp_path / "outcome").write_text(text)
    with pytest.raises(ValueError, match=r"outcome: not an outcome: remove it, and rerun the experiment"):
        read_outcome(tmp_path / "outcome")
