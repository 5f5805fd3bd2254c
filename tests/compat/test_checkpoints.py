"""Checkpoints are loaded with PyTorch's safe loading, and the ones that fairseq writes are accepted."""

from __future__ import annotations

import argparse
import io
import os
import pickle
import pickletools
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils

from fairseq_compat.checkpoint_classes import NumberType


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def checkpoint(**entries: object) -> dict:
    """The skeleton of a checkpoint: what fairseq looks at when it loads one."""
    history = [{"optimizer_name": "FairseqAdam", "lr_scheduler_state": {}, "num_updates": 1}]
    return {"args": None, "model": {}, "optimizer_history": history, "extra_state": {"epoch": 1}, **entries}


def globals_in(path: Path) -> set[str]:
    """The names of the classes and functions that a checkpoint refers to."""
    with zipfile.ZipFile(path) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
        operations = pickletools.genops(archive.read(name))
        return {argument for operation, argument, _ in operations if operation.name == "GLOBAL"}


def reload(value: object) -> object:
    """`value` after torch.save and torch.load, which is the latter's safe default."""
    content = io.BytesIO()
    torch.save(value, content)
    content.seek(0)
    return torch.load(content)


@pytest.mark.parametrize("where", ["extra_state", "args", "model"])
def test_malicious_checkpoint_is_refused_and_not_run(tmp_path: Path, where: str):
    folder = tmp_path / "made by the payload"
    pickle.loads(pickle.dumps(Payload(folder)))
    assert folder.is_dir(), "the payload is live"
    folder.rmdir()

    path = tmp_path / "checkpoint.pt"
    values = {"args": argparse.Namespace(arch=Payload(folder)), "extra_state": {"x": Payload(folder)}}
    torch.save(checkpoint(**{where: values.get(where, Payload(folder))}), path)
    # Not with PyTorch's advice to load it all the same.
    with pytest.raises(pickle.UnpicklingError, match=r"^it holds posix\.mkdir, and nothing that could run code"):
        checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert not folder.exists()


def test_fairseq_never_turns_safe_loading_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    torch.save(checkpoint(), tmp_path / "checkpoint.pt")
    calls = []
    load = torch.load
    monkeypatch.setattr(torch, "load", lambda *args, **kwargs: calls.append(kwargs) or load(*args, **kwargs))
    checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / "checkpoint.pt"))
    assert calls == [{"map_location": torch.device("cpu")}]
    assert "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD" not in os.environ


def test_a_namespace_in_a_checkpoint_is_loaded(tmp_path: Path):
    namespace = argparse.Namespace(arch="lstm", lr=[0.1], inner=argparse.Namespace(name="x"))
    torch.save(checkpoint(cfg={"model": namespace}), tmp_path / "checkpoint.pt")
    state = checkpoint_utils.load_checkpoint_to_cpu(str(tmp_path / "checkpoint.pt"))
    assert state["cfg"].model == namespace


@pytest.mark.parametrize(
    "array",
    [
        np.array([542, 404, 280, 184]),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3)),
        np.array([1, 2], dtype=">i2"),
        np.array([True, False]),
        np.array(2.5),
        np.array([1 + 2j]),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_an_array_of_numbers_in_a_checkpoint_is_loaded(array: np.ndarray):
    loaded = reload({"meter": array})["meter"]
    assert isinstance(loaded, np.ndarray)
    assert loaded.dtype == array.dtype.newbyteorder("=") and loaded.shape == array.shape
    assert np.array_equal(loaded, array)
    assert (loaded + loaded).sum() == (array + array).sum()


@pytest.mark.parametrize("number", [np.float64(1.5), np.int64(-3), np.bool_(True), np.float32(0.25)], ids=repr)
def test_a_number_of_numpy_in_a_checkpoint_is_loaded(number: np.generic):
    loaded = reload({"best": number})["best"]
    assert type(loaded) is type(number) and loaded == number


def test_loaded_array_is_saved_as_any_other(tmp_path: Path):
    array = np.array([1, 2, 3])
    torch.save({"meter": array}, tmp_path / "first.pt")
    torch.save({"meter": reload({"meter": array})["meter"]}, tmp_path / "second.pt")
    assert globals_in(tmp_path / "second.pt") == globals_in(tmp_path / "first.pt")
    assert not any("fairseq_compat" in name for name in globals_in(tmp_path / "second.pt"))


@pytest.mark.parametrize(
    "array",
    [np.array([{}]), np.array(["text"]), np.array([(1, 2.0)], dtype="i4,f8"), np.array(["2014-06-03"], dtype="M8[D]")],
    ids=lambda array: array.dtype.kind,
)
def test_arrays_of_anything_but_numbers_are_refused(array: np.ndarray):
    with pytest.raises(ValueError, match="arrays of numbers"):
        reload({"meter": array})


def test_layout_of_a_type_is_not_taken_from_the_file():
    """numpy's own unpickling trusts fields and flags: here, an object instead of a number."""
    number_type = NumberType("i8", False, True)
    number_type.__setstate__((3, "<", None, ("field",), {"field": (np.dtype("O"), 0)}, 8, 8, 63))
    assert number_type.dtype == np.dtype("<i8")
    assert number_type.dtype.names is None and not number_type.dtype.hasobject
