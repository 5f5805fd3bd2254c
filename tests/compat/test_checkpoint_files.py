"""A checkpoint appears complete or not at all, whatever interrupts its writing, and the file is named."""

from __future__ import annotations

import errno
import logging
import pickle
import shutil
import traceback
from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.file_io import PathManager


@pytest.fixture
def last(tmp_path: Path) -> Path:
    """A good last checkpoint."""
    torch.save({"updates": 100}, tmp_path / "checkpoint_last.pt")
    return tmp_path / "checkpoint_last.pt"


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def half_a_copy(source: str, destination: str) -> None:
    Path(destination).write_bytes(Path(source).read_bytes()[:50])
    no_room()


def test_a_copy_replaces_the_old_file_only_when_it_is_whole(
    last: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    newer = last.with_name("checkpoint_1_200.pt")
    torch.save({"updates": 200}, newer)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", half_a_copy)
        with caplog.at_level(logging.ERROR), pytest.raises(OSError, match="No space left"):
            PathManager.copy(str(newer), str(last), overwrite=True)
    assert torch.load(last) == {"updates": 100}
    assert f"{last} was not written: [Errno 28] No space left on device" in caplog.text
    assert sorted(path.name for path in last.parent.iterdir()) == ["checkpoint_1_200.pt", "checkpoint_last.pt"]
    assert PathManager.copy(str(newer), str(last), overwrite=True)
    assert torch.load(last) == {"updates": 200}


def test_a_second_attempt_does_not_append_to_the_first(
    last: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """fairseq's own would: its second torch.save succeeds, and the file it renames cannot be opened."""
    save, attempts = torch.save, []

    def save_with_one_failure(value: object, file: object) -> None:
        attempts.append(file)
        if len(attempts) == 1:
            file.write(b"the beginning of a checkpoint")
            no_room()
        save(value, file)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", save_with_one_failure)
        with caplog.at_level(logging.ERROR), pytest.raises(OSError, match="No space left"):
            checkpoint_utils.torch_persistent_save({"updates": 200}, str(last))
    assert torch.load(last) == {"updates": 100}
    assert f"{last} was not written" in caplog.text and "once there is room" in caplog.text
    assert [path.name for path in last.parent.iterdir()] == ["checkpoint_last.pt"]
    checkpoint_utils.torch_persistent_save({"updates": 200}, str(last))
    assert torch.load(last) == {"updates": 200}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"PK\x03\x04 the beginning of a checkpoint", b"\x00" * 5000, b"not a checkpoint", b"hello world\n"),
        *(pickle.dumps(["a", 1]), b"\x80\x02}"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match=r"^it is no checkpoint, or damaged$") as refusal:
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert f"{path} cannot be loaded: it is no checkpoint, or damaged" in caplog.text
    # PyTorch's advice is in no traceback.
    assert "weights_only" not in "".join(traceback.format_exception(refusal.value))


def test_code_in_a_checkpoint_is_named_without_advice_to_run_it(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "checkpoint.pt"
    torch.save({"model": {}, "cfg": Path("/")}, path)
    with pytest.raises(pickle.UnpicklingError, match=r"^it holds pathlib\.\w+, and nothing that could run code"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert f"{path} cannot be loaded: it holds pathlib." in caplog.text and "weights_only" not in caplog.text


def test_what_is_wrong_with_a_checkpoint_itself_is_said_as_ever(last: Path):
    with pytest.raises(FileNotFoundError, match="none"):
        checkpoint_utils.load_checkpoint_to_cpu(str(last.parent / "none.pt"))
    with pytest.raises(KeyError, match="best_loss"):
        torch.save({"args": {"arch": "lstm"}}, last)
        checkpoint_utils.load_checkpoint_to_cpu(str(last))
