"""What a run was made on: figures from different machines should not be compared."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import torch

from recurrent_mt.kernels.backend import resolve

from .setting import Setting

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
