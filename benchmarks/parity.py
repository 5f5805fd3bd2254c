"""The check that comes before any timing: ours compared with the reference kernels in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from recurrent_mt.kernels.dispatch import using

#: How far a tensor may be from the reference's, computed in float64, as a share of its norm.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.05}

#: In bfloat16 also this many times as far as the reference kernels are in the same number format:
#: gradients that are sums of many signs lose most of their eight bits, whatever computes them.
TIMES_THE_ROUNDING = 2

#: A gradient smaller than this share of the greatest is compared as if it had that size: it is rounding.
LEAST_SHARE = 1e-3

#: How many sentences are compared; the reference loops are too slow for whole batches.
SENTENCES = 4


class ParityError(AssertionError):
    """Ours differs from the reference; nothing may be timed."""


def assert_parity(
    what: str,
    ours: Callable[[], Sequence[Tensor]],
    reference: Callable[[torch.dtype], Sequence[Tensor]],
    dtype: torch.dtype,
) -> None:
    """Compares tensors one by one, each by the norm of the difference.

    Args:
        what: what is compared, for the message.
        ours: makes the tensors in the run's dtype.
        reference: makes them in a given dtype, in the same order; it is called where the reference kernels run.
        dtype: the format of the run's products.

    Raises:
        ParityError: naming the first tensor that is too far off.
    """
    with using("reference"):
        expected = [tensor.detach().double() for tensor in reference(torch.float64)]
        rounded = reference(dtype) if dtype == torch.bfloat16 else []
    norms = [float(tensor.norm()) for tensor in expected]
    allowed = [TOLERANCE[dtype] * max(norm, LEAST_SHARE * max(norms)) for norm in norms]
    if dtype == torch.bfloat16:
        rounding = _distances(rounded, expected)
        allowed = [max(least, TIMES_THE_ROUNDING * distance) for least, distance in zip(allowed, rounding)]
    for index, distance in enumerate(_distances(ours(), expected)):
        if not distance <= allowed[index]:
            raise ParityError(
                f"{what}: tensor {index} of shape {tuple(expected[index].shape)} is {distance:.3g} from the reference, "
                f"which has the norm {norms[index]:.3g}; {allowed[index]:.3g} is allowed in {dtype}. Nothing was timed."
            )


def _distances(tensors: Sequence[Tensor], expected: Sequence[Tensor]) -> list[float]:
    return [float((tensor.detach().double() - theirs).norm()) for tensor, theirs in zip(tensors, expected, strict=True)]


def constant_gradient(output: Tensor) -> Tensor:
    """A gradient that is the same each time and different from entry to entry, like ``output``."""
    return _sines(output.shape, output.dtype, output.device)


@lru_cache(maxsize=16)
def _sines(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Kept, since sines take a tenth of a small layer's time, which is not the layer's."""
    return (torch.arange(shape.numel(), device=device, dtype=torch.float32) * 0.7).sin_().view(shape).to(dtype)
