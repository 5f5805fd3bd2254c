"""A case: how it is computed, what is run, and the families that make cases.

Figures from different machines should not be compared, so a setting describes its own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from recurrent_mt.kernels.dispatch import selected

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

#: bfloat16 products, everything else in float32.
AUTOCAST = "autocast"


@dataclass(frozen=True)
class Setting:
    """What all cases of a run share."""

    device: str = "cpu"  # ``cpu`` or ``cuda``
    dtype: str = "float32"  # a name in :data:`DTYPES`, for our models and the bare products; or :data:`AUTOCAST`
    #: a name in :data:`DTYPES`, for fairseq's ``lstm``, the yardstick, which does not change when ours does
    stock_dtype: str = "float32"
    threads: int = 1  # torch's threads, in this process and in those that measure memory
    #: how long a case is timed, but never for fewer than :data:`~benchmarks.measurement.FEWEST` rounds
    seconds: float = 20.0

    @property
    def kernels(self) -> str:
        """The kernels that run."""
        return selected(torch.zeros(0, device=self.device))

    @property
    def is_compiled(self) -> bool:
        """Whether the search and Adam are compiled, too."""
        return self.kernels in ("native", "fused")

    @property
    def autocast(self) -> bool:
        """Whether our models compute their products in a different format from their weights."""
        return self.dtype == AUTOCAST

    @property
    def weights(self) -> torch.dtype:
        """The dtype of our models' weights in this run."""
        return torch.float32 if self.autocast else DTYPES[self.dtype]

    @property
    def products(self) -> torch.dtype:
        """The dtype of products."""
        return torch.bfloat16 if self.autocast else DTYPES[self.dtype]


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
        "kernels": setting.kernels,
        "float32_products": torch.get_float32_matmul_precision(),
    }


def processor() -> str:
    """The processor's name, or its kind if the system does not say the name."""
    table = Path("/proc/cpuinfo")
    lines = table.read_text().splitlines() if table.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


#: Sizes and kinds by name, which identify a case; printed and written to JSON. All have ``sentences``, their number B;
#: ``length``, of the longest of them, for models on either side; and ``lengths``, a kind that
#: :func:`~benchmarks.systems.draw_lengths` knows.
Shape = Mapping[str, int | str]


@dataclass(frozen=True)
class Case:
    """Our code, the stock model beside it, and what both are measured against."""

    #: ``ours``, and ``stock``, fairseq's ``lstm`` of the same sizes on the same batch
    runs: dict[str, Callable[[], object]]
    unit: str  # what speed counts, ``words`` or ``sentences``
    amount: int  # how many of them one run processes


@dataclass(frozen=True)
class Family:
    """Cases of one kind."""

    name: str  # what ``--cases`` calls it
    about: str  # what is timed, in one line
    case: Callable[..., Case]  # makes a case for a setting and a shape, whose entries are keyword arguments
    shapes: tuple[Shape, ...]  # the shapes of the cases
    #: small ones, to check that everything runs; the first one also warms up the memory measurement
    quick: tuple[Shape, ...]
