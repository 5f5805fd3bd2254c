"""The choice between the implementations of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

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
