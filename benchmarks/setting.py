"""How everything in one run is computed: device, number format, threads, patience."""

from __future__ import annotations

from dataclasses import dataclass

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Setting:
    """What all cases of a run share.

    Attributes:
        device: ``cpu`` or ``cuda``.
        dtype: a name of :data:`DTYPES`, of our models and of the bare products.
        stock_dtype: likewise, of fairseq's ``lstm``, which is the yardstick and stays what it is while ours changes.
        threads: of torch, in this process and in those that memory is measured in.
        seconds: how long a case is timed, though never for fewer than :data:`~benchmarks.timing.FEWEST` rounds.
    """

    device: str = "cpu"
    dtype: str = "float32"
    stock_dtype: str = "float32"
    threads: int = 1
    seconds: float = 20.0

    @property
    def number(self) -> torch.dtype:
        """The dtype of our models and of the products."""
        return DTYPES[self.dtype]

    @property
    def stock_number(self) -> torch.dtype:
        """The dtype of the stock models."""
        return DTYPES[self.stock_dtype]
