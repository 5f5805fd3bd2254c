"""The memory that a case takes at its peak, measured in a process of its own."""

from __future__ import annotations

import ctypes
import gc
import logging
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch

from .case import Setting, Shape
from .families import FAMILIES

_PROCESS = Path("/proc/self")


def peak_memory(family: str, shape: Shape, which: str, setting: Setting) -> int:
    """Bytes that the first run takes at its peak, beyond what is held when model and batch are ready.

    It therefore excludes the model's weights but includes gradients and, in a training step, Adam's moments.

    Args:
        family: the case's family.
        shape: the case's shape.
        which: ``ours`` or ``stock``.
        setting: the run's setting.
    """
    spawn = multiprocessing.get_context("spawn")
    # fairseq logs when it is imported.
    with ProcessPoolExecutor(1, spawn, initializer=logging.disable, initargs=(logging.INFO,)) as pool:
        return pool.submit(measure_here, family, shape, which, setting).result()


def measure_here(family: str, shape: Shape, which: str, setting: Setting) -> int:
    """The same in this process, which must not have done anything else."""
    torch.set_num_threads(setting.threads)
    # Libraries load their kernels on first use.
    FAMILIES[family].case(setting, **FAMILIES[family].quick[0]).runs()[which]()
    run = FAMILIES[family].case(setting, **shape).runs()[which]
    if setting.device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    _return_what_is_free()
    # 5 resets the peak to what is held now: see proc_pid_clear_refs(5).
    (_PROCESS / "clear_refs").write_text("5")
    before = _resident_peak()
    run()
    return _resident_peak() - before


def _return_what_is_free() -> None:
    """Makes the C library return freed memory: the run could use what it keeps without a trace in the peak."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _resident_peak() -> int:
    """The most that this process has held. ``ru_maxrss`` would not do: it is inherited from the starting process."""
    lines = (_PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
