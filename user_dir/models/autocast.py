"""The number format of a model's matrix products."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

FORMATS = {"none": None, "bfloat16": torch.bfloat16}


def autocast(name: str, like: Tensor) -> AbstractContextManager[object]:
    """``torch.autocast`` to one of :data:`FORMATS` on a tensor's device; ``none`` changes nothing."""
    number = FORMATS[name]
    return nullcontext() if number is None else torch.autocast(like.device.type, dtype=number)
