"""The check that comes before any timing: the kernels that run, compared with the reference ones.

The tests of kernels compare more, and exactly; this is for the sizes and the processor of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from recurrent_mt.kernels.dispatch import using

#: How far a tensor may be from the reference's, as a share of its norm.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.05}

#: A gradient smaller than this share of the greatest is compared as if it had that size: it is rounding.
LEAST_SHARE = 1e-3

#: How many sentences are compared; the reference loops are too slow for whole batches.
SENTENCES = 4


class ParityError(AssertionError):
    """Ours differs from the reference; nothing may be timed."""


def assert_parity(what: str, compute: Callable[[], Sequence[Tensor]], dtype: torch.dtype) -> None:
    """Compares tensors one by one, each by the norm of the difference.

    Args:
        what: what is compared, for the message.
        compute: makes the tensors, with the kernels that are chosen when it is called.
        dtype: the format of the run's products.

    Raises:
        ParityError: naming the first tensor that is too far off.
    """
    ours = [tensor.detach().double() for tensor in compute()]
    with using("reference"):
        expected = [tensor.detach().double() for tensor in compute()]
    norms = [float(tensor.norm()) for tensor in expected]
    for index, (tensor, other, norm) in enumerate(zip(ours, expected, norms, strict=True)):
        distance, allowed = float((tensor - other).norm()), TOLERANCE[dtype] * max(norm, LEAST_SHARE * max(norms))
        if not distance <= allowed:
            raise ParityError(
                f"{what}: tensor {index} of shape {tuple(tensor.shape)} is {distance:.3g} from the reference, "
                f"which has the norm {norm:.3g}; {allowed:.3g} is allowed in {dtype}. Nothing was timed."
            )


def constant_gradient(output: Tensor) -> Tensor:
    """A gradient that is the same each time and different from entry to entry, like ``output``."""
    return _sines(output.shape, output.dtype, output.device)


@lru_cache(maxsize=16)
def _sines(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Kept, since sines take a tenth of a small layer's time, which is not the layer's."""
    return (torch.arange(shape.numel(), device=device, dtype=torch.float32) * 0.7).sin_().view(shape).to(dtype)
