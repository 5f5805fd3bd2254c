"""Prints the fairseq-train arguments that a fairseq-hydra-train configuration stands for, one per line.

Overrides are written as for fairseq-hydra-train: ``task.data=DIR``, ``pair=fr-en``, ``model.dropout=0.2``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from ..evaluation.ablation.training_command import configuration_arguments


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("configuration", metavar="FILE.yaml", help="file from configs/")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="replaces what the file says")


def run(options: argparse.Namespace) -> None:
    """Prints the arguments.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if Hydra or fairseq would reject its contents.
    """
    path = Path(options.configuration).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no configuration {options.configuration}")
    try:
        with initialize_config_dir(config_dir=str(path.parent), version_base="1.1"):
            config = compose(config_name=path.stem, overrides=["common.user_dir=user_dir", *options.overrides])
        settings: Any = OmegaConf.to_container(config, resolve=True)
        print("\n".join(configuration_arguments(settings)))
    except Exception as error:  # whatever Hydra raises names the key or the file
        raise ValueError(f"{path.name}: {error}") from error
