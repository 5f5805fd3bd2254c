"""``--autocast``: matrix products in another dtype than the weights'."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

DTYPES = {"none": None, "bfloat16": torch.bfloat16}


class Autocast(nn.Module):
    """The dtype of the matrix products of an encoder or a decoder.

    Args:
        name: one of :data:`DTYPES`; with ``none``, autocast stays as it is.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def on(self, like: Tensor) -> AbstractContextManager[object]:
        """Where products have that dtype, on a tensor's device."""
        dtype = DTYPES[self.name]
        return nullcontext() if dtype is None else torch.autocast(like.device.type, dtype=dtype)

    def extra_repr(self) -> str:
        return self.name
