"""What the plug-in's source says of its options: defaults, which decide a result like what is set.

It is read and not imported, which takes seconds, and fairseq.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from ..plugin_finder import find_plugin

PLUGIN = find_plugin()
#: The option of fairseq-train that chooses what a decorator of fairseq's registers.
CHOSEN_BY = {
    "register_model": "--arch",
    "register_task": "--task",
    "register_criterion": "--criterion",
    "register_optimizer": "--optimizer",
}
#: Defaults, as they are written, of an option that is off.
OFF = ("None", "False", "0", "0.0")


class Registered(NamedTuple):
    """What the plug-in adds to fairseq."""

    chosen_by: str  # as in `CHOSEN_BY`
    name: str  # the value of that option
    defaults: dict[str, str]  # option to its default as it is written; without those that fairseq itself defines


def list_defaults(arguments: Sequence[str]) -> dict[str, dict[str, str]]:
    """The defaults that hold in a training, by what has them: those of options that its arguments do not set.

    One that is off is left out, and one that was fixed before: a new option changes no training that does not set it.
    """
    given = set(arguments)
    chosen = set(pairwise(arguments))
    return {
        one.chosen_by: {
            option: default
            for option, default in one.defaults.items()
            if f"--{option.replace('_', '-')}" not in given and default not in OFF
        }
        for one in list_registered()
        if (one.chosen_by, one.name) in chosen
    }


@cache
def read_classes() -> dict[str, ast.ClassDef]:
    """The classes of the plug-in by name."""
    # Editors put files of their own beside those that are open, with a dot in front; links to nothing among them.
    trees = [ast.parse(file.read_text(encoding="utf-8"), file) for file in sorted(PLUGIN.rglob("[!.]*.py"))]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


@cache
def list_registered() -> tuple[Registered, ...]:
    """What the plug-in registers, by ``@register_…("NAME", dataclass=CLASS)``; fairseq also takes no dataclass."""
    found = []
    for call in chain(*(node.decorator_list for node in read_classes().values())):
        if isinstance(call, ast.Call) and (chosen_by := CHOSEN_BY.get(ast.unparse(call.func))):
            given = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "dataclass")]
            defaults = read_fields(ast.unparse(given[0])) if given else {}
            found.append(Registered(chosen_by, ast.literal_eval(call.args[0]), defaults))
    return tuple(found)


def read_fields(name: str) -> dict[str, str]:
    """The defaults of a dataclass and of those it is derived from; nothing of one that is not the plug-in's."""
    node = read_classes().get(name)
    if node is None:
        return {}
    found: dict[str, str] = {}
    for base in node.bases:
        found |= read_fields(ast.unparse(base))
    for field in node.body:
        # An option that is gone has one value only.
        if isinstance(field, ast.AnnAssign) and field.value and not ast.unparse(field.value).startswith("removed("):
            found[ast.unparse(field.target)] = read_default(field.value)
    return found


def read_default(value: ast.expr) -> str:
    """The default in ``option(DEFAULT, …)``, ``field(default=DEFAULT, …)``, or ``= DEFAULT``, as it is written.

    Of an option with ``was_fixed=True``, it is ``None``.
    """
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("option", "field"):
        if any(keyword.arg == "was_fixed" for keyword in value.keywords):
            return "None"
        named = (keyword.value for keyword in value.keywords if keyword.arg == "default")
        value = next(named, None) or value.args[0]
    return ast.unparse(value)
