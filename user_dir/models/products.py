"""How a model's matrix products are computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor, nn

from recurrent_mt.kernels.functional import native_functions

FORMATS = {"none": None, "bfloat16": torch.bfloat16}


class Products(nn.Module):
    """Their number format and their implementation, for all that an encoder or a decoder consists of.

    Args:
        autocast: a name in :data:`FORMATS`; with ``none``, autocast stays as it is.
        backend: of linear layers and dropout; see :func:`~recurrent_mt.kernels.functional.native_functions`. A
            recurrence has its own.
    """

    def __init__(self, autocast: str, backend: str) -> None:
        super().__init__()
        self.autocast = autocast
        self.backend = backend

    @contextmanager
    def on(self, like: Tensor) -> Iterator[None]:
        """Where they are computed that way, on a tensor's device."""
        number = FORMATS[self.autocast]
        format_of_products = nullcontext() if number is None else torch.autocast(like.device.type, dtype=number)
        with format_of_products, native_functions(self.backend, like):
            yield

    def extra_repr(self) -> str:
        """Both, for the model's printed form."""
        return f"autocast={self.autocast}, backend={self.backend}"
