"""Which implementation of an operation runs: decided here, and nowhere else.

An operation has up to four implementations: ``reference``, the paper's equations as a loop, the ground truth for
tests; ``packed``, in PyTorch operations; ``native``, in C++, on a CPU; and ``fused``, in Triton, on a GPU. The fastest
that can run does. :func:`using`, or the environment variable ``RECURRENT_MT_KERNELS``, asks for another one, and then
that runs, or an error says why it cannot: there is no silent substitute.

PyTorch's own dispatcher (``torch.library``) chooses by device alone. Here the choice also depends on dtypes, on
autocast, and on whether a compiler was there, and implementations differ in what they keep for their backward passes.
A call through it costs as much: 19 µs against 21 µs for a linear layer of 64 rows of 8, without gradients.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import native

logger = logging.getLogger(__name__)

VARIABLE = "RECURRENT_MT_KERNELS"
"""The environment variable that names an implementation for a whole process."""

NATIVE_DTYPES = (torch.float32, torch.float64)
"""The dtypes of states that the native kernels know; their products may also be in bfloat16."""

_asked_for: ContextVar[str | None] = ContextVar("asked_for", default=os.environ.get(VARIABLE) or None)


@contextmanager
def using(implementation: str) -> Iterator[None]:
    """Within this context, all operations run in this implementation."""
    before = _asked_for.set(implementation)
    try:
        yield
    finally:
        _asked_for.reset(before)


def selected(weight: Tensor, operation: str = "this model") -> str:
    """The implementation for operations with this weight.

    It is ``native`` on a CPU where that is built, ``fused`` on a GPU where Triton is, and otherwise ``packed``, unless
    another is asked for. The log says once which it is; where the native kernels are missing on a CPU, it warns.

    Raises:
        ValueError: if one is asked for that cannot run here, which the message calls the operation.
    """
    asked_for = _asked_for.get()
    if asked_for is not None:
        check_runnable(asked_for, operation, weight)
        return asked_for
    chosen = "packed"
    if weight.device.type == "cuda":
        chosen = "fused" if _has_triton(weight.device) else "packed"
    elif weight.device.type == "cpu" and weight.dtype in NATIVE_DTYPES and _knows_autocast(weight.dtype):
        reason = native.reason_unavailable()
        if reason is not None:
            _warn(reason)
            return "packed"
        chosen = "native"
    _say(chosen, weight.device.type, weight.dtype)
    return chosen


class Call(NamedTuple):
    """An implementation and the dtypes that autocast asks it for.

    Under ``torch.autocast``, matrix products are in its dtype and everything else is unchanged. autocast works on
    single operations. Under it, a recurrence would round its states at every step, and in-place operations would mix
    two dtypes. So the kernels turn it off and do what it is meant to do: their weights are narrowed once per call,
    products are computed in the weights' dtype, and what they are added to, states, softmax, and sums keep their own.
    """

    run: Callable[..., Any]  # the implementation
    states: torch.dtype  # the dtype of everything that is not a product, which is the weights' own
    products: torch.dtype  # the dtype of matrix products; different only under autocast, and never for ``reference``
    outside_autocast: AbstractContextManager[object]  # a context in which autocast is off


class Operation:
    """An operation, and its implementations, all of which take the same arguments.

    Args:
        name: of the operation.
        **implementations: by their names.
    """

    def __init__(self, name: str, **implementations: Callable[..., Any]) -> None:
        self.name = name
        self.implementations = implementations

    def call(self, weight: Tensor) -> Call:
        """The implementation that runs with this weight.

        Raises:
            ValueError: if one is asked for that the operation does not have or that cannot run here.
        """
        chosen = selected(weight, self.name)
        if chosen not in self.implementations:
            known = ", ".join(sorted(self.implementations))
            raise ValueError(f"{self.name} has no implementation {chosen!r}; it has: {known}")
        products = weight.dtype if chosen == "reference" else products_dtype(weight)
        device = weight.device.type
        off = torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()
        return Call(self.implementations[chosen], weight.dtype, products, off)


def in_triton(module: str, name: str) -> Callable[..., Any]:
    """An implementation ``fused``: a function of a module beside this one, imported at the first call.

    Triton, and what needs it, is imported nowhere else.
    """

    def run(*arguments: Any) -> Any:
        return getattr(import_module(f".{module}", __package__), name)(*arguments)

    return run


def products_dtype(weight: Tensor) -> torch.dtype:
    """The dtype of products with this weight: its own, or, under autocast, that of autocast."""
    device = weight.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype


def check_runnable(implementation: str, operation: str, weight: Tensor) -> None:
    """Rejects an implementation that was asked for where it cannot run.

    Raises:
        ValueError: saying what is missing.
    """
    subject = f"{operation} as {implementation!r}"
    if implementation == "native":
        if weight.device.type != "cpu":
            raise ValueError(f"{subject} runs on the CPU, but the tensors are on {weight.device}")
        if weight.dtype not in NATIVE_DTYPES:
            raise ValueError(f"{subject} needs float32 or float64, not {weight.dtype}")
        if not _knows_autocast(weight.dtype):
            raise ValueError(f"{subject} can be under autocast with float32 weights and bfloat16 alone")
        reason = native.reason_unavailable()
        if reason is not None:
            raise ValueError(f"{subject} cannot run here: {reason}")
    if implementation == "fused":
        if find_spec("triton") is None:
            raise ValueError(
                f"{subject} needs triton, which is not installed; it comes with PyTorch for GPUs. 'packed' does not "
                "need it"
            )
        if weight.device.type == "cpu" and import_module(".triton_math", __package__).is_compiled():
            raise ValueError(
                f"{subject} needs a GPU, but the tensors are on the CPU: use 'packed' there. With TRITON_INTERPRET=1 "
                "in the environment, Triton's interpreter runs it, slowly, for tests"
            )


def _knows_autocast(states: torch.dtype) -> bool:
    """Whether autocast asks for products that the native kernels have: none of its own, or bfloat16 beside float32."""
    if not torch.is_autocast_enabled("cpu"):
        return True
    return (states, torch.get_autocast_dtype("cpu")) == (torch.float32, torch.bfloat16)


@functools.cache
def _has_triton(device: torch.device) -> bool:
    """Whether Triton is installed, and compiles for this GPU: it needs what torch.compile needs."""
    return find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= (7, 0)


@functools.cache
def _say(implementation: str, device: str, dtype: torch.dtype) -> None:
    logger.info("kernels: %s, for %s on %s", implementation, str(dtype).removeprefix("torch."), device)


@functools.cache
def _warn(reason: str) -> None:
    logger.warning("%s; until then, everything runs in the slower 'packed'", reason)
