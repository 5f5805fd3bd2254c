"""Reads the files of configs/ that fairseq-hydra-train reads, as arguments of fairseq-train."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .training_command import configuration_arguments


def assign(key: str, value: object) -> str:
    """The ``KEY=VALUE`` with which Hydra takes a value as it is, whatever characters it has."""
    from hydra.core.override_parser.types import Quote, QuotedString

    return f"{key}={QuotedString(text=str(value), quote=Quote.single).with_quotes()}"


def quote_path(override: str) -> str:
    """A ``KEY=VALUE`` that Hydra can read, where VALUE is a path with characters that its grammar has no place for.

    Such are letters with accents, quotes, commas and parentheses. What Hydra reads as one value stays as it is.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    key, _, value = override.partition("=")
    if "/" not in value and key != "task.data":
        return override
    try:
        several = OverridesParser.create().parse_override(override).is_sweep_override()
    except HydraException:
        return assign(key, value)
    return assign(key, value) if several else override


def name_languages(overrides: Sequence[str], pairs: Path) -> list[str]:
    """The overrides with both languages in place of each ``pair=SRC-TGT`` for which a folder of pairs has no file.

    Raises:
        ValueError: if such a pair is not two languages.
    """
    result = []
    for override in overrides:
        key, _, pair = override.partition("=")
        if key != "pair" or (pairs / f"{pair}.yaml").is_file():
            result.append(override)
            continue
        languages = pair.split("-")
        if len(languages) != 2 or not all(re.fullmatch(r"\w+", language) for language in languages):
            raise ValueError(f"{override} is no pair of languages: write SRC-TGT, such as pair=de-en")
        result += [assign(f"task.{side}_lang", language) for side, language in zip(("source", "target"), languages)]
    return result


def read_arguments(file: str | PathLike[str], overrides: Sequence[str]) -> list[str]:
    """The arguments that a file stands for, changed by ``KEY=VALUE`` as for fairseq-hydra-train, with any pair.

    See `quote_path` and `name_languages`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if Hydra or fairseq would reject its contents.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no configuration {file}")
    overrides = name_languages(overrides, path.parent / "pair")
    try:
        settings = compose_settings(path.parent, path.stem, ["common.user_dir=user_dir", *map(quote_path, overrides)])
        return configuration_arguments(settings, {text.partition("=")[0].lstrip("+~") for text in overrides})
    except Exception as error:  # whatever Hydra raises names the key or the file
        raise ValueError(f"{path.name}: {error}") from error


def compose_settings(folder: Path, name: str, overrides: Sequence[str] = ()) -> Any:
    """The settings of ``NAME.yaml`` with all that it inherits: group to key to value."""
    from hydra import compose, initialize_config_dir  # only here: most experiments read no such file
    from omegaconf import OmegaConf

    with warnings.catch_warnings():
        # Hydra warns of this version, which holds for the whole process: fairseq calls what 1.2 no longer has.
        warnings.simplefilter("ignore", UserWarning)
        initialize = initialize_config_dir(config_dir=str(folder), version_base="1.1")
    with initialize:
        return OmegaConf.to_container(compose(config_name=name, overrides=list(overrides)), resolve=True)
