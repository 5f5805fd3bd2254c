"""``--autocast``: matrix products in another dtype than the weights'."""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor, nn

logger = logging.getLogger(__name__)

DTYPES = {"none": None, "bfloat16": torch.bfloat16}


class Autocast(nn.Module):
    """The dtype of the matrix products of an encoder or a decoder.

    Where narrow products take longer than float32's, as on Intel's processors without AMX, the log says so, once; and
    where they would be much faster, as on those with it, a training in float32 says that.

    Args:
        name: one of :data:`DTYPES`; with ``none``, autocast stays as it is.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @contextmanager
    def on(self, like: Tensor) -> Iterator[None]:
        """Where products have that dtype, on a tensor's device."""
        dtype = DTYPES[self.name]
        if like.device.type == "cpu":
            if dtype is not None:
                warn_if_slow(dtype)
            elif self.training and like.dtype == torch.float32:
                suggest_if_fast(torch.bfloat16)
        with nullcontext() if dtype is None else torch.autocast(like.device.type, dtype=dtype):
            yield

    def extra_repr(self) -> str:
        return self.name


@functools.cache
def warn_if_slow(dtype: torch.dtype) -> None:
    """Says in the log, once, if products in this dtype take longer than in float32 on this processor."""
    ratio = 1 / speed_of_products(dtype)
    if ratio > 1.2:  # less could be chance
        logger.warning(
            "products in %s take %s times as long as in float32 on this processor: it is faster without --autocast",
            str(dtype).removeprefix("torch."),
            in_words(ratio),
        )


@functools.cache
def suggest_if_fast(dtype: torch.dtype) -> None:
    """Says in the log, once, if products in this dtype are much faster than in float32 on this processor."""
    ratio = speed_of_products(dtype)
    if ratio > 1.5:  # products are not all that a training does
        name = str(dtype).removeprefix("torch.")
        logger.info(
            "products in %s are %s times as fast as in float32 here: consider --autocast %s",
            name,
            in_words(ratio),
            name,
        )


def in_words(ratio: float) -> str:
    """With one decimal, but no more than ten, which four products do not tell."""
    return f"{ratio:.1f}" if ratio < 10 else "more than 10"


def speed_of_products(dtype: torch.dtype) -> float:
    """How many times as fast as in float32 a product of two square matrices in this dtype is.

    What counts is this thread's time on a processor, the least of several rounds in turn: other processes, and a clock
    that changes, must not decide.
    """
    matrices = [torch.ones(512, 512, dtype=each) for each in (torch.float32, dtype)]
    least = [math.inf, math.inf]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(6):  # the first compiles them
            for place, matrix in enumerate(matrices):
                start = time.thread_time()
                matrix @ matrix
                least[place] = min(least[place], time.thread_time() - start)
    finally:
        torch.set_num_threads(threads)
    return least[0] / least[1]
