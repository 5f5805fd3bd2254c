"""Positions as sines and cosines."""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoids(length: int, size: int, *, like: Tensor) -> Tensor:
    """A vector for each of ``length`` positions, counted from 0.

    Unit 2i of position p is sin(p / 10000^(2i/size)), unit 2i + 1 the cosine of the same (Vaswani et al. 2017, section
    3.5; Kaiser et al. 2017, section 2.2); an odd ``size`` ends in a sine.

    Args:
        length: L.
        size: C.
        like: a tensor with the wanted device and type.

    Returns:
        (L, C).
    """
    unit = torch.arange(size, device=like.device, dtype=torch.float64)
    rate = 10000.0 ** (-(unit - unit % 2) / size)
    angle = torch.arange(length, device=like.device, dtype=torch.float64)[:, None] * rate
    return torch.where(unit % 2 == 0, angle.sin(), angle.cos()).to(like.dtype)
