"""The choice between the implementations of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TypeVar

from torch import Tensor

Implementation = TypeVar("Implementation")


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

    Args:
        operation: the requested operation.
        like: a tensor on the device to run on.

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
