"""Reads an experiment: a file of options, changed by ``KEY=VALUE``, each checked before anything starts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from .option_checks import BUDGETS, OptionError, check_ignored, check_lines, check_together

#: The folder of the project: experiments are run from a clone.
PROJECT = Path(__file__).resolve().parents[2]
SCHEMA = PROJECT / "workflow" / "experiment.schema.yaml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Options whose numbers are names, too: they stay as they are written.
RATES = ("learning_rate", "learning_rates")
TRUTH = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}


class UniqueKeyLoader(yaml.SafeLoader):
    """YAML whose keys are text, and none of a mapping there twice: the first would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Constructs a mapping and rejects keys that occur twice."""
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, f"{key} must be in quotes", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_experiment(file: str | PathLike[str], overrides: Sequence[str] = ()) -> dict[str, Any]:
    """All options of an experiment, the defaults included.

    Args:
        file: of configs/experiments, or like them.
        overrides: ``KEY=VALUE``, which replace what the file says.

    Raises:
        OptionError: if the file is no YAML, or an option is unknown or has a value that it cannot have.
        OSError: if the file cannot be read.
    """
    if not SCHEMA.is_file():
        raise OptionError(f"there is no {SCHEMA}: experiments are run from a clone of the project")
    schema = load_yaml(SCHEMA)
    options = load_yaml(Path(file))
    if not isinstance(options, dict):
        raise OptionError(f"{file}: it must be a mapping of options to values, not {shown(options)}")
    if not NAME.fullmatch(Path(file).stem):
        raise OptionError(f"{file}: its name must consist of letters, digits, '.', '_', and '-': results get it")
    options = {key: write_rates(value) if key in RATES else value for key, value in options.items()}
    check(options, schema, str(file))
    changes = dict(read_override(text, schema) for text in overrides)
    check({"pair": options["pair"], **changes}, schema, "command line")
    for options_of_one in (options, changes):
        if sum(budget in options_of_one for budget in BUDGETS) > 1:
            raise OptionError(f"{file}: give one budget: {', '.join(BUDGETS)}")
    if any(budget in changes for budget in BUDGETS):
        options = {key: value for key, value in options.items() if key not in BUDGETS}
    defaults = {key: value["default"] for key, value in schema["properties"].items() if "default" in value}
    merged = {**defaults, **options, **changes}
    check_together(merged, str(file))
    check_ignored({**options, **changes}, merged, str(file))
    check_lines(merged, str(file))
    return merged


def describe_options() -> str:
    """Every option with what it does and its default, for people; where to find that if this is no clone."""
    if not SCHEMA.is_file():
        return "listed in workflow/experiment.schema.yaml of a clone of the project"
    lines = []
    for key, entry in load_yaml(SCHEMA)["properties"].items():
        default = entry.get("default")
        text = entry["description"] + (f" ({shown_default(default)})" if default not in (None, "", [], {}) else "")
        lines += wrap(text, width=100, initial_indent=f"{key:<17}", subsequent_indent=" " * 17)
    return "\n".join(lines)


def shown_default(value: Any) -> str:
    """A default as it would be given."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_rates(value: Any) -> Any:
    """A number that YAML has read, as text again."""
    if isinstance(value, list):
        return [write_rates(item) for item in value]
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


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


def read_override(text: str, schema: Mapping[str, Any]) -> tuple[str, Any]:
    """``KEY=VALUE``; the option's type says how the value is read.

    Raises:
        OptionError: if it is neither, there is no such option, or its value has a name twice.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise OptionError(f"'{text}' is no option: write KEY=VALUE")
    if key not in schema["properties"]:
        raise OptionError(f"command line: {describe_unknown(key, schema)}")
    kinds = types_of(schema["properties"][key], schema)
    if "array" in kinds:
        item = types_of(schema["properties"][key].get("items", {}), schema)
        return key, [read_value(part, item) for part in value.split(",") if part]
    if "object" in kinds:
        item = types_of(resolve(schema["properties"][key], schema).get("additionalProperties", {}), schema)
        pairs = [
            (name, read_value(part, item))
            for name, _, part in (pair.partition("=") for pair in value.split(",") if pair)
        ]
        if len(dict(pairs)) < len(pairs):
            raise OptionError(f"command line: {key} has a name twice: {', '.join(name for name, _ in pairs)}")
        return key, dict(pairs)
    return key, read_value(value, kinds)


def resolve(entry: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an entry of the schema refers to, or the entry itself."""
    return schema["$defs"][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry


def types_of(entry: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that a value may have."""
    entry = resolve(entry, schema)
    if "anyOf" in entry:
        return [kind for part in entry["anyOf"] for kind in types_of(part, schema)]
    kinds = entry.get("type", "string")
    return kinds if isinstance(kinds, list) else [kinds]


def read_value(text: str, kinds: Sequence[str]) -> Any:
    """A number or a truth value where one is wanted and written; otherwise the text as it is.

    As in a file, but for 010, which YAML takes for 8, and 1:30, which it takes for 90. Without a point, 1e-3 is text.
    """
    if text == "" and "null" in kinds:
        return None
    if {"integer", "number"} & set(kinds) and re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    if "number" in kinds and re.fullmatch(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-][0-9]+)?", text):
        return float(text)
    return TRUTH.get(text.lower(), text) if "boolean" in kinds else text


def check(options: Mapping[str, Any], schema: Mapping[str, Any], place: str) -> None:
    """Holds options against the schema.

    Raises:
        OptionError: naming the place, the option, and the value.
    """
    import jsonschema  # only here: nothing but an experiment needs it

    for key in options:
        if key not in schema["properties"]:
            raise OptionError(f"{place}: {describe_unknown(str(key), schema)}")
    # JSON Schema takes 10.0 for an integer; what it is written into does not.
    kinds = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=kinds)
    error = jsonschema.exceptions.best_match(validator(schema).iter_errors(options))
    if error is None:
        return
    if error.validator == "required":
        raise OptionError(f"{place}: {error.message.replace(chr(39), '')}")
    keys = [str(key) for key in error.absolute_path]
    top = schema["properties"].get(keys[0], {}) if keys else {}
    must = find_must(error.schema, schema) or find_must(top, schema) or error.message
    # A name that is wrong is an option of its own: the path ends above it.
    raise OptionError(f"{place}: {'.'.join(keys)} must be {must}, not {shown(error.instance)}")


def find_must(entry: Any, schema: Mapping[str, Any]) -> str | None:
    """What the schema says that a value must be."""
    if not isinstance(entry, Mapping):
        return None
    if "must" in entry:
        return str(entry["must"])
    return find_must(resolve(entry, schema), schema) if "$ref" in entry else None


def shown(value: Any) -> str:
    """Formats a value for a message."""
    return f"'{str(value)[:80]}'"


def describe_unknown(key: str, schema: Mapping[str, Any]) -> str:
    """The message for an option that does not exist, with the closest one that does."""
    close = difflib.get_close_matches(key, schema["properties"], n=1)
    hint = f"did you mean {close[0]}?" if close else "workflow/experiment.schema.yaml lists all"
    return f"there is no option {key}: {hint}"
