"""The page's ES modules as one, so that a single file needs no loader and no network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

#: A module's import of names from a neighbour, on a line of its own.
IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) )", re.MULTILINE)
REMNANT = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)
DECLARATION = re.compile(r"^(export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)


def join_modules(modules: Mapping[str, str], entry: str) -> str:
    """The entry module and all that it imports, each after those that it needs, without imports and exports.

    Args:
        modules: text by file name.
        entry: the name of the module that nothing imports.

    Raises:
        ValueError: if a module imports what no other exports, or in a form that is not known here, or itself in a ring,
            and if two modules have something of one name: joined, they share one scope.
    """
    order: list[str] = []
    visit(modules, entry, (), order)
    parts = []
    owners: dict[str, str] = {}
    for name in order:
        for _, declared in DECLARATION.findall(modules[name]):
            if owners.setdefault(declared, name) != name:
                raise ValueError(f"{owners[declared]} and {name} both declare {declared}: joined they share one scope")
        text = EXPORT.sub("", IMPORT.sub("", modules[name]))
        if remnant := REMNANT.search(text):
            raise ValueError(f"{name}: cannot join modules at '{remnant[0].strip()}'")
        parts.append(text.strip())
    return "\n\n".join(parts) + "\n"


def visit(modules: Mapping[str, str], name: str, path: Sequence[str], order: list[str]) -> None:
    """Adds a module to the order, those that it imports first."""
    if name in path:
        raise ValueError(f"modules import one another in a ring: {' → '.join([*path, name])}")
    if name in order:
        return
    for names, neighbour in IMPORT.findall(modules[name]):
        exported = {declared for export, declared in DECLARATION.findall(modules.get(neighbour, "")) if export}
        if missing := [one for one in names.split(", ") if one not in exported]:
            raise ValueError(f"{name} imports {', '.join(missing)} from {neighbour}, which does not export it")
        visit(modules, neighbour, [*path, name], order)
    order.append(name)
