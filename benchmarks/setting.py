"""How everything in one run is computed, and on what: figures from different machines should not be compared."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import torch

from recurrent_mt.kernels.backend import resolve

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

#: bfloat16 products, everything else in float32.
AUTOCAST = "autocast"


@dataclass(frozen=True)
class Setting:
    """What all cases of a run share.

    Attributes:
        device: ``cpu`` or ``cuda``.
        dtype: a name in :data:`DTYPES`, for our models and the bare products; or :data:`AUTOCAST`.
        stock_dtype: a name in :data:`DTYPES`, for fairseq's ``lstm``, the yardstick, which does not change when ours
            does.
        backend: of our kernels; with ``auto`` and ``native``, the search and Adam are compiled, too.
        threads: torch's threads, in this process and in those that measure memory.
        seconds: how long a case is timed, but never for fewer than :data:`~benchmarks.measurement.FEWEST` rounds.
    """

    device: str = "cpu"
    dtype: str = "float32"
    stock_dtype: str = "float32"
    backend: str = "auto"
    threads: int = 1
    seconds: float = 20.0

    @property
    def is_native(self) -> bool:
        """Whether all that can be compiled is asked for."""
        return self.backend in ("auto", "native")

    @property
    def number(self) -> torch.dtype:
        """The dtype of our models' weights in this run."""
        return torch.float32 if self.autocast else DTYPES[self.dtype]

    @property
    def autocast(self) -> bool:
        """Whether our models compute their products in a different format from their weights."""
        return self.dtype == AUTOCAST

    @property
    def product_number(self) -> torch.dtype:
        """The dtype of products, which determines how exact a run can be."""
        return torch.bfloat16 if self.autocast else DTYPES[self.dtype]

    @property
    def stock_number(self) -> torch.dtype:
        return DTYPES[self.stock_dtype]


#: Facts that two runs must share for their times to be comparable.
IDENTITY = ("processor", "cores", "device", "torch", "threads", "dtype", "stock_dtype", "float32_products")


def describe(setting: Setting) -> dict[str, str | int]:
    """The facts of this machine and run, by name."""
    device = torch.cuda.get_device_name() if setting.device == "cuda" else "cpu"
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 0,
        "device": device,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": setting.threads,
        "dtype": setting.dtype,
        "stock_dtype": setting.stock_dtype,
        "backend": setting.backend if setting.backend != "auto" else resolve("auto", torch.zeros(0)),
        "float32_products": torch.get_float32_matmul_precision(),
    }


def processor() -> str:
    """The processor's name, or its kind if the system does not say the name."""
    table = Path("/proc/cpuinfo")
    lines = table.read_text().splitlines() if table.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
