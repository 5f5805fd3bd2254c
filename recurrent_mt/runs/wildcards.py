"""How the rules of the workflow ask the plan: what a job's corpus or system has under a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import SimpleNamespace
from typing import Any


def take(entries: Mapping[str, Any], wildcard: str, name: str, *arguments: str, **values: str) -> Callable[..., Any]:
    """A function of a rule that gives what an entry has, or what a method of it returns.

    Args:
        entries: of the plan.
        wildcard: the one that names the job's entry.
        name: of the attribute, or of the method.
        arguments: of the method: names of wildcards, or ``input``, ``output``, and ``threads``.
        values: further arguments of the method, as they are.
    """

    def give(wildcards: Any, **job: Any) -> Any:
        found = attrgetter(name)(entries[getattr(wildcards, wildcard)])
        given = SimpleNamespace(**{**job, **dict(wildcards.items())})
        return found(*(attrgetter(one)(given) for one in arguments), **values) if callable(found) else found

    return give
