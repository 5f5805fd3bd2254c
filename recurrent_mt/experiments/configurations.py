"""Reads the files of configs/ that fairseq-hydra-train reads, as arguments of fairseq-train."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .training_command import configuration_arguments


def read_arguments(file: str | PathLike[str], overrides: Sequence[str]) -> list[str]:
    """The arguments that a file stands for, changed by ``KEY=VALUE`` as for fairseq-hydra-train.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if Hydra or fairseq would reject its contents.
    """
    from hydra import compose, initialize_config_dir  # only here: most experiments read no such file
    from omegaconf import OmegaConf

    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no configuration {file}")
    try:
        with warnings.catch_warnings():
            # Hydra warns of this version, which holds for the whole process: fairseq calls what 1.2 no longer has.
            warnings.simplefilter("ignore", UserWarning)
            initialize = initialize_config_dir(config_dir=str(path.parent), version_base="1.1")
        with initialize:
            config = compose(config_name=path.stem, overrides=["common.user_dir=user_dir", *overrides])
        settings: Any = OmegaConf.to_container(config, resolve=True)
        return configuration_arguments(settings, {text.partition("=")[0].lstrip("+~") for text in overrides})
    except Exception as error:  # whatever Hydra raises names the key or the file
        raise ValueError(f"{path.name}: {error}") from error
