"""A checkpoint is written whole or not at all, and a training that is called again goes on with its own."""

from __future__ import annotations

import errno
import logging
import pickle
import re
import shutil
import traceback
from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.file_io import PathManager

from tests.cli import toy

from .commands import preprocess, train


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
    [b"", b"PK\x03\x04 the beginning of a checkpoint", b"hello world\n", pickle.dumps(["a", 1]), b"\x80\x02}"],
)
def test_a_file_that_is_no_checkpoint_is_named(tmp_path: Path, logged, content: bytes):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match=r"^it is no checkpoint, or damaged$") as refusal:
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert f"{path} cannot be loaded: it is no checkpoint, or damaged" in logged()
    # PyTorch's advice is in no traceback.
    assert "weights_only" not in "".join(traceback.format_exception(refusal.value))


def call_again(trained: Path, save: Path, data: Path, *options: object) -> dict:
    """What a training leaves that is called again with other options, in a folder of its own."""
    save.mkdir(exist_ok=True)
    shutil.copy(trained, save / "checkpoint_last.pt")
    return train(data, save, *options)


def updates_in(state: dict) -> int:
    return state["optimizer_history"][-1]["num_updates"]


@pytest.fixture(scope="module")
def stopped(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a training stopped in the middle of its first epoch: after 6 batches of 10 sentences."""
    folder = tmp_path_factory.mktemp("stopped")
    train(data, folder, "--batch-size", 10, "--max-update", 6, "--disable-validation")
    return folder / "checkpoint_last.pt"


def resume(data: Path, stopped: Path, save: Path, *options: object) -> dict:
    return call_again(stopped, save, data, "--max-update", 8, "--disable-validation", *options)


def test_fewer_batches_than_have_been_seen_are_explained(data: Path, stopped: Path, tmp_path: Path):
    message = (
        "checkpoint_last.pt was saved in the middle of an epoch that has fewer batches now: --batch-size was 10 and is "
        "40; --seed was 1 and is 7. Continue with what it was saved with, or with --reset-dataloader"
    )
    with pytest.raises(RuntimeError, match=re.escape(message)):
        resume(data, stopped, tmp_path, "--batch-size", 40, "--seed", 7)


def test_other_batches_are_named_and_the_same_are_not(data: Path, stopped: Path, tmp_path: Path, logged):
    resume(data, stopped, tmp_path, "--batch-size", 5, "--truncate-source")
    said = "with other batches: --batch-size was 10 and is 5; --truncate-source was False and is True. In this epoch,"
    assert said in logged()
    assert updates_in(resume(data, stopped, tmp_path, "--batch-size", 10)) == 8
    assert "other batches" not in logged()
    resume(data, stopped, tmp_path, "--batch-size", 5, "--reset-dataloader")
    assert "other batches" not in logged()


def test_other_data_is_named(data: Path, stopped: Path, tmp_path: Path, logged):
    toy.write_corpus(tmp_path, train=90)
    dictionaries = ("--srcdict", data / "dict.src.txt", "--tgtdict", data / "dict.tgt.txt")
    preprocess(tmp_path, tmp_path / "data", *dictionaries)
    resume(tmp_path / "data", stopped, tmp_path, "--batch-size", 10)
    assert "with other batches: the training data had 100 sentences and has 90." in logged()
