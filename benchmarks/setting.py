"""How everything in one run is computed: device, number format, threads, time limit."""

from __future__ import annotations

from dataclasses import dataclass

import torch

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
        seconds: how long a case is timed, but never for fewer than :data:`~benchmarks.timing.FEWEST` rounds.
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
        """The dtype of the stock models."""
        return DTYPES[self.stock_dtype]
