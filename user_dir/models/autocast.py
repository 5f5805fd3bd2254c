"""The number format of a model's matrix products."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

FORMATS = {"none": None, "bfloat16": torch.bfloat16}


def autocast(name: str, like: Tensor) -> AbstractContextManager[object]:
    """``torch.autocast`` to the format of that name on a tensor's device; ``none`` changes nothing.

    Args:
        name: one of :data:`FORMATS`.
        like: a tensor on the device.
    """
    number = FORMATS[name]
    return nullcontext() if number is None else torch.autocast(like.device.type, dtype=number)
