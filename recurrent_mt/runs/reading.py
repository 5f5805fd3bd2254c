"""Reads an experiment: a file, with ``KEY=VALUE`` in place of what it says; every error names the option."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import yaml
from pydantic import ValidationError

from .experiment import PROJECT, Budget, Experiment

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
TRUTH = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}


class OptionError(ValueError):
    """An invalid option; the message names the file, or the command line, and the option."""


class UniqueKeyLoader(yaml.SafeLoader):
    """YAML whose keys are text, and none of a mapping there twice: the first would be lost without a word.

    Numbers are decimal: YAML takes 010 for 8, and 1:30 for 90.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, f"{key} must be in quotes", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def construct_number(loader: UniqueKeyLoader, node: yaml.ScalarNode) -> Any:
    """A decimal number."""
    text = loader.construct_scalar(node)
    if re.match(r"[+-]?0[0-9xbo_]", text) or ":" in text:
        said = f"{text} is no decimal number: write it as one, or put it in quotation marks"
        raise yaml.constructor.ConstructorError(None, None, said, node.start_mark)
    whole = node.tag.endswith(":int")
    return loader.construct_yaml_int(node) if whole else loader.construct_yaml_float(node)


UniqueKeyLoader.add_constructor("tag:yaml.org,2002:int", construct_number)
UniqueKeyLoader.add_constructor("tag:yaml.org,2002:float", construct_number)


def read_experiment(file: str | PathLike[str], overrides: Sequence[str] = ()) -> Experiment:
    """All options of an experiment: those of a file, with ``KEY=VALUE`` in their place, each checked.

    Raises:
        OptionError: if the file is no YAML, or an option is unknown, has a value that it cannot have, or would do
            nothing where the command line sets it.
        OSError: if the file cannot be read.
    """
    if not (PROJECT / "workflow").is_dir():
        raise OptionError(f"there is no {PROJECT / 'workflow'}: experiments are run from a clone of the project")
    options = load_yaml(Path(file))
    if not isinstance(options, dict):
        raise OptionError(f"{file}: it must be a mapping of options to values, not {shown(options)}")
    if not NAME.fullmatch(Path(file).stem):
        raise OptionError(f"{file}: its name must consist of letters, digits, '.', '_', and '-': results get it")
    changes = read_overrides(overrides)
    if "corpus" in changes and changes["corpus"] is options.get("corpus") is None:
        raise OptionError("command line: corpus is empty: name a folder, or leave it out for the synthetic corpus")
    budgets = Budget.model_fields
    for place, given in ((file, options), ("command line", changes)):
        if sum(given.get(budget) is not None for budget in budgets) > 1:
            raise OptionError(f"{place}: give one budget: {', '.join(budgets)}")
    options = {key: value for key, value in options.items() if key not in budgets or not changes.keys() & budgets}
    try:
        experiment = Experiment.model_validate({**options, **changes})
    except ValidationError as error:
        key, message = describe_error(error, {**options, **changes})
        raise OptionError(f"{'command line' if key in changes else file}: {message}") from None
    for key, reason in experiment.unused.items():
        # In a file, it may wait for another option of the command line.
        if key in changes:
            raise OptionError(f"command line: {key} would do nothing: {reason}")
    return experiment


def load_yaml(file: Path) -> Any:
    """The content of a YAML file; no code is run.

    Raises:
        OptionError: if it is no YAML.
    """
    try:
        return yaml.load(file.read_text(encoding="utf-8"), UniqueKeyLoader)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML lets what Python says of a malformed date, number or key through.
        raise OptionError(f"{file}: {' '.join(str(error).split())}") from None


def read_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """Options and their values.

    Raises:
        OptionError: as `read_override`, and if an option is given twice.
    """
    changes: dict[str, Any] = {}
    for key, value in map(read_override, texts):
        if key in changes:
            raise OptionError(f"command line: {key} is given twice: leave one out")
        changes[key] = value
    return changes


def read_override(text: str) -> tuple[str, Any]:
    """``KEY=VALUE``; the option's type says how the value is read.

    Raises:
        OptionError: if it is neither, there is no such option, or its value is to have names and has one twice or none.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise OptionError(f"'{text}' is no option: write KEY=VALUE")
    if key not in Experiment.model_fields:
        raise OptionError(f"command line: {describe_unknown(key)}")
    field = Experiment.model_fields[key]
    kinds = types_of(field.annotation)
    if isinstance(field.default, list):
        return key, [read_value(part, kinds) for part in value.split(",") if part]
    if isinstance(field.default, dict):
        parts = [part.partition("=") for part in value.split(",") if part]
        for name, equals, _ in parts:
            if not equals:
                raise OptionError(f"command line: {key} must be NAME=VALUE, several separated by commas, not {name!r}")
        pairs = [(name, read_value(part, kinds)) for name, _, part in parts]
        if len(dict(pairs)) < len(pairs):
            raise OptionError(f"command line: {key} has a name twice: {', '.join(name for name, _ in pairs)}")
        return key, dict(pairs)
    return key, read_value(value, kinds)


def types_of(annotation: Any) -> set[Any]:
    """The types of single values that an annotation mentions."""
    parts = get_args(annotation)
    return {kind for part in parts for kind in types_of(part)} if parts else {annotation}


def read_value(text: str, kinds: set[Any]) -> Any:
    """A number or a truth value where one is wanted and written; otherwise the text as it is.

    As in a file, but for 010, which YAML takes for 8, and 1:30, which it takes for 90. Without a point, 1e-3 is text.
    """
    if text == "" and NoneType in kinds:
        return None
    if {int, float} & kinds and re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    if float in kinds and re.fullmatch(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-][0-9]+)?", text):
        return float(text)
    return TRUTH.get(text.lower(), text) if bool in kinds else text


def describe_error(error: ValidationError, options: Mapping[str, Any]) -> tuple[str, str]:
    """The option that is wrong, or the first of them, and the message about it."""
    order = ["extra_forbidden", "must", "missing", "value_error"]
    first = min((one for one in error.errors() if one["type"] in order), key=lambda one: order.index(one["type"]))
    if first["type"] == "value_error":
        return "", str(first["ctx"]["error"])
    option = str(first["loc"][0])
    if first["type"] != "must":
        return option, f"{option} is a required property" if first["type"] == "missing" else describe_unknown(option)
    keys: list[str] = []
    value: Any = options
    for step in first["loc"]:  # pydantic names types between the keys
        if step in (range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()):
            keys.append(str(step))
            value = value[step]
    # A name that is wrong is an option of its own: the path ends above it.
    if first["loc"][-1] == "[key]":
        value = keys.pop()
    return option, f"{'.'.join(keys)} must be {first['msg']}, not {shown(value)}"


def shown(value: Any) -> str:
    """Formats a value for a message."""
    return repr(str(value)[:80])


def describe_unknown(key: str) -> str:
    """The message for an option that does not exist, with the closest one that does."""
    close = difflib.get_close_matches(key, Experiment.model_fields, n=1)
    hint = f"did you mean {close[0]}?" if close else "recurrent-mt experiment --help lists all"
    return f"there is no option {key}: {hint}"
