"""Reads the plan of an ablation: one base system, and cells that each change a little of it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from .training_command import check_training_flag

SECTIONS = ("recipe", "train", "base", "cells")
#: What a cell may set besides flags of fairseq-train: it then has data of its own.
SEGMENTATION = "segmentation"
CELL_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


class PlanError(ValueError):
    """A plan that cannot be read; the message names the file, and the line or the key."""


class UniqueKeyLoader(yaml.SafeLoader):
    """YAML whose mappings may not have a key twice: the first would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping, checked."""
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


@dataclass(frozen=True)
class Plan:
    """An ablation.

    Attributes:
        name: the file's, without its ending.
        recipe: options of `scripts/compare_baselines.sh` for all cells, without their dashes.
        train: flags of fairseq-train for all cells, without their dashes.
        base: the cell that the others are compared with.
        cells: name to what differs from ``train``; ``segmentation`` is the recipe's option.
    """

    name: str
    recipe: Mapping[str, Any]
    train: Mapping[str, Any]
    base: str
    cells: Mapping[str, Mapping[str, Any]]

    def recipe_arguments(self) -> Iterator[str]:
        """The recipe's options as they stand on a command line."""
        return arguments(self.recipe)

    def train_arguments(self, cell: str) -> Iterator[str]:
        """A cell's flags of fairseq-train; ``false`` in a cell takes a flag of all cells away."""
        merged = {**self.train, **self.cells[cell]}
        merged.pop(SEGMENTATION, None)
        return arguments(merged)

    def segmentation(self, cell: str) -> str | None:
        """The cell's own segmentation; None for the recipe's."""
        value = self.cells[cell].get(SEGMENTATION)
        return None if value is None else str(value)


def arguments(values: Mapping[str, Any]) -> Iterator[str]:
    """``--key value`` for each; ``true`` is a flag without a value, ``false`` and ``null`` nothing."""
    for key, value in values.items():
        if value is None or value is False:
            continue
        yield f"--{key}"
        if value is not True:
            yield str(value)


def read_plan(path: str | PathLike[str]) -> Plan:
    """Reads a plan.

    Raises:
        PlanError: if it is no YAML, has unknown sections or keys, or the base is none of the cells.
        OSError: if the file cannot be read.
    """
    path = Path(path)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), UniqueKeyLoader)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML lets what Python says of a malformed date, number or key through.
        raise PlanError(f"{path}: {' '.join(str(error).split())}") from None
    sections = mapping(path, "the plan", content)
    for section in sections:
        if section not in SECTIONS:
            raise PlanError(f"{path}: unknown section {section!r}: choose of {', '.join(SECTIONS)}")
    cells = {
        name: mapping(path, f"cell {name}", values)
        for name, values in mapping(path, "cells", sections.get("cells")).items()
    }
    for name in cells:
        if not CELL_NAME.fullmatch(name):
            raise PlanError(f"{path}: cell {name!r}: use small letters, digits, '.', '_' and '-': it becomes a folder")
    base = sections.get("base")
    if not isinstance(base, str) or base not in cells:
        raise PlanError(f"{path}: base is {base!r}, which is none of the cells: {', '.join(cells) or 'there are none'}")
    common = {name: mapping(path, name, sections.get(name)) for name in ("recipe", "train")}
    return Plan(path.stem, common["recipe"], common["train"], base, cells)


def mapping(path: Path, place: str, value: Any) -> dict[str, Any]:
    """A mapping from names to plain values or mappings; nothing at all is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise PlanError(f"{path}: {place} must be a mapping, not {value!r}")
    for key, item in value.items():
        if not isinstance(key, str):
            raise PlanError(f"{path}: {place}: {key!r} must be a text: write it in quotes")
        if isinstance(item, list):
            raise PlanError(f"{path}: {place}: {key} is a list: write its values with commas, in quotes")
        if place in ("the plan", "cells"):
            continue
        if isinstance(item, dict):
            raise PlanError(f"{path}: {place}: {key} must be one value, not {item!r}")
        try:
            check_training_flag(key, item)
        except ValueError as error:
            raise PlanError(f"{path}: {place}: {error}") from None
    return value
