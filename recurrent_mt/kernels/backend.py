"""The choice between the implementations of an operation."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TypeVar

import torch
from torch import Tensor

from . import native

logger = logging.getLogger(__name__)

NATIVE_FORMATS = (torch.float32, torch.float64)
"""The number formats of states that the native kernels know; their products may also be in bfloat16."""

Implementation = TypeVar("Implementation")


def resolve(backend: str, weight: Tensor) -> str:
    """What ``auto`` means with this weight.

    On a CPU, ``native`` where it is built, on a GPU, ``fused`` where Triton is, and otherwise ``packed``.

    Every other name stays. The log says once what ``auto`` is; where the native kernels are missing on a CPU, it warns.
    """
    if backend != "auto":
        return backend
    chosen = "packed"
    if weight.device.type == "cuda":
        chosen = "fused" if _has_triton(weight.device) else "packed"
    elif weight.device.type == "cpu" and weight.dtype in NATIVE_FORMATS and _knows_autocast(weight.dtype):
        reason = native.reason_unavailable()
        if reason is not None:
            _warn(reason)
            return "packed"
        chosen = "native"
    _say(chosen, weight.device.type, weight.dtype)
    return chosen


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
def _say(backend: str, device: str, number: torch.dtype) -> None:
    logger.info("kernels: %s, for %s on %s", backend, str(number).removeprefix("torch."), device)


@functools.cache
def _warn(reason: str) -> None:
    logger.warning("%s; until then, everything runs on the slower backend 'packed'", reason)


def check_native(operation: str, like: Tensor) -> None:
    """Rejects the backend ``native`` where its kernels cannot run on states like these.

    Raises:
        ValueError: saying what is missing.
    """
    if like.device.type != "cpu":
        raise ValueError(f"{operation}'s backend 'native' runs on the CPU, but the tensors are on {like.device}")
    if like.dtype not in NATIVE_FORMATS:
        raise ValueError(f"{operation}'s backend 'native' needs float32 or float64, not {like.dtype}")
    reason = native.reason_unavailable()
    if reason is not None:
        raise ValueError(f"{operation} has no backend 'native' here: {reason}")


def choose(operation: str, backend: str, implementations: Mapping[str, Implementation]) -> Implementation:
    """The implementation named ``backend``.

    Raises:
        ValueError: if the operation has no implementation of that name. There is no silent substitute.
    """
    if backend not in implementations:
        known = ", ".join(sorted(implementations))
        raise ValueError(f"{operation} has no backend {backend!r}; it has: {known}")
    return implementations[backend]


def check_triton(operation: str, like: Tensor) -> None:
    """Rejects the backend ``fused`` where its kernels cannot run. Triton is imported only here and in those kernels.

    Raises:
        ValueError: saying what is missing.
    """
    if find_spec("triton") is None:
        raise ValueError(
            f"{operation}'s backend 'fused' needs triton, which is not installed; it comes with PyTorch for GPUs. "
            "The backend 'packed' does not need it"
        )
    from .triton_math import is_compiled

    if like.device.type == "cpu" and is_compiled():
        raise ValueError(
            f"{operation}'s backend 'fused' needs a GPU, but the tensors are on the CPU: use 'packed' there. "
            "With TRITON_INTERPRET=1 in the environment, Triton's interpreter runs it, slowly, for tests"
        )
