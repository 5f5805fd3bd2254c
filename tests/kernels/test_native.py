"""The library of native kernels: how it is found and built, and what it refuses."""

import errno
import logging
import os
import shutil
from pathlib import Path

import pytest
import torch

from recurrent_mt.kernels import dispatch, native
from recurrent_mt.kernels.gru import gru
from recurrent_mt.kernels.native import sources
from recurrent_mt.kernels.native.build import build
from tests.kernels import test_attentive_gru, test_gru
from tests.kernels.batches import needs_native, random, within

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def other_folder(tmp_path, monkeypatch):
    """A folder without a library in place of the real one."""
    monkeypatch.setattr(native, "FOLDER", tmp_path)
    native.reason_unavailable.cache_clear()
    dispatch._warn.cache_clear()
    yield tmp_path
    native.reason_unavailable.cache_clear()


def library(folder):
    name = native.library_name(torch.__version__) + native.sysconfig.get_config_var("EXT_SUFFIX")
    return folder / name


@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "c++")) is None, reason="there is no C++ compiler")
def test_the_library_is_built_where_there_is_a_compiler():
    """Without it, hundreds of tests are skipped: after a change that does not compile, nobody would notice."""
    assert native.reason_unavailable() is None


def test_a_library_serves_one_version_of_pytorch():
    assert native.library_name("2.13.0+cpu") == native.library_name("2.13.0") == "torch_2_13_0"


def test_without_a_library_auto_runs_on_packed_and_one_line_says_why(other_folder, caplog):
    counts, tensors = test_gru.arguments([3, 2], 4)
    with caplog.at_level(logging.INFO):
        states = [within("auto", gru)(*tensors, batch_sizes=counts) for _ in range(2)]
    assert torch.equal(states[0], within("packed", gru)(*tensors, batch_sizes=counts))
    (record,) = caplog.records
    assert record.message.startswith("the native kernels are not built for PyTorch") and "packed" in record.message
    assert record.levelno == logging.WARNING


def test_without_a_library_native_is_refused(other_folder):
    counts, tensors = test_gru.arguments([3, 2], 4)
    with pytest.raises(ValueError, match=r"gru as 'native' cannot run here: .* recurrent-mt build-kernels builds them"):
        within("native", gru)(*tensors, batch_sizes=counts)


def test_a_library_of_other_sources_is_not_loaded_whatever_the_times_of_files(other_folder):
    (other_folder / "gru.cpp").write_text("int gru;")
    library(other_folder).write_bytes(b"a library of " + sources.checksum(other_folder).encode())
    os.utime(library(other_folder), (1, 1))
    # It is tried: what differs are times, as in a copy.
    assert "cannot be loaded" in native.reason_unavailable()
    native.reason_unavailable.cache_clear()
    (other_folder / "gru.cpp").write_text("long gru;")
    os.utime(other_folder / "gru.cpp", (0, 0))
    assert "compiled from other sources" in native.reason_unavailable()


def test_a_library_that_is_none_is_not_loaded(other_folder):
    library(other_folder).write_bytes(b"not a library")
    # One for another PyTorch, built later, says nothing about this one.
    (other_folder / library(other_folder).name.replace("torch_", "torch_0_")).write_bytes(b"")
    os.utime(library(other_folder), (1, 1))
    assert "cannot be loaded" in native.reason_unavailable()


@needs_native
def test_auto_is_native_on_a_cpu_for_wide_numbers():
    assert dispatch.selected(torch.zeros(1)) == "native"
    assert dispatch.selected(torch.zeros(1, dtype=torch.bfloat16)) == "packed"
    assert dispatch.selected(torch.zeros(1, device="meta")) == "packed"


@needs_native
def test_the_log_says_once_which_kernels_run(caplog):
    dispatch._say.cache_clear()
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            dispatch.selected(torch.zeros(1))
    assert caplog.messages == ["kernels: native, for float32 on cpu"]


def test_a_compiler_that_fails_is_named_and_no_library_is_left(tmp_path, monkeypatch):
    for name in ("CC", "CXX"):
        monkeypatch.setenv(name, "/bin/false")
    with pytest.raises(RuntimeError, match=r"are not built, everything runs on 'packed': .*/bin/false"):
        build(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_refused_before_minutes_of_compiling(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "/bin/false")
    with pytest.raises(FileNotFoundError, match="partial-"):
        build(tmp_path / "nowhere")


def test_of_a_library_that_does_not_fit_on_the_disk_nothing_is_left(other_folder, monkeypatch):
    def fill(source, target):
        Path(target).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("recurrent_mt.kernels.native.build.compile_extension", lambda project: None)
    monkeypatch.setattr(shutil, "copyfile", fill)
    with pytest.raises(OSError, match="No space left"):
        build(other_folder)
    assert not list(other_folder.iterdir())


def test_the_library_is_where_it_is_looked_for(other_folder, tmp_path, monkeypatch):
    """A compiler that writes a file without an instruction stands in, which takes seconds less by the dozen."""
    compiler = other_folder / "compiler"
    compiler.write_text("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = -o ] && echo >$2; shift; done\n")
    compiler.chmod(0o755)
    for name in ("CC", "CXX", "LDSHARED", "LDCXXSHARED"):
        monkeypatch.setenv(name, str(compiler))
    assert build(other_folder) == library(other_folder)
    assert sorted(other_folder.iterdir()) == [compiler, library(other_folder)]


@needs_native
@pytest.mark.parametrize("scale", [1.0, 30.0, 200.0])
def test_additive_attention_survives_large_queries_and_keys(scale):
    """Where e^{2q} e^{2k} could overflow, or lose a difference, tanh is computed as it is written."""
    counts, mask, tensors = test_attentive_gru.arguments([3, 1, 2], 5, additive=True)
    tensors[2], tensors[7] = tensors[2] * scale, tensors[7] * scale
    run = test_attentive_gru.run(counts, mask)
    for found, expected in zip(run("native", *tensors), run("reference", *tensors)):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@needs_native
def test_what_is_not_a_number_stays_that():
    counts, (inputs, *rest) = test_gru.arguments([3, 2], 4)
    inputs[0, 0] = torch.nan
    states = within("native", gru)(inputs, *rest, batch_sizes=counts)
    assert torch.equal(states.isnan(), within("packed", gru)(inputs, *rest, batch_sizes=counts).isnan())


@needs_native
@pytest.mark.parametrize("size", [31, 64, 100, 620])
def test_sizes_beyond_a_panel_and_a_tile_are_multiplied_whole(size):
    """Products are made 64 columns, 32 rows and 512 numbers at a time; 80 sentences are more than two tiles."""
    counts, tensors = [80, 33, 1], [random(114, 3 * size), random(80, size), random(2 * size, size), random(size, size)]
    tensors[2:] = [tensor / size**0.5 for tensor in tensors[2:]]
    results = []
    for name in ("native", "packed"):
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        states = within(name, gru)(*leaves, batch_sizes=counts)
        results.append([states, *torch.autograd.grad(states.square().sum(), leaves)])
    for found, expected in zip(*results):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
