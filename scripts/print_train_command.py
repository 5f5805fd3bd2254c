#!/usr/bin/env python3
"""Prints the arguments of fairseq-train that a configuration for fairseq-hydra-train stands for, one a line.

    python scripts/print_train_command.py configs/NAME.yaml [KEY=VALUE ...]

Overrides are written as for fairseq-hydra-train: ``task.data=DIR``, ``pair=fr-en``, ``model.dropout=0.2``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hydra.experimental import compose, initialize_config_dir
from omegaconf import OmegaConf

#: What the ``_name`` of a group is called on the command line.
NAMES = {
    "model": "arch",
    "task": "task",
    "criterion": "criterion",
    "optimizer": "optimizer",
    "lr_scheduler": "lr-scheduler",
}


def main() -> None:
    """Command line."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    path = Path(sys.argv[1]).resolve()
    if not path.is_file():
        sys.exit(f"error: there is no configuration {sys.argv[1]}")
    try:
        with initialize_config_dir(config_dir=str(path.parent)):
            config = compose(config_name=path.stem, overrides=["common.user_dir=user_dir", *sys.argv[2:]])
        print("\n".join(arguments(OmegaConf.to_container(config, resolve=True))))
    except Exception as error:  # whatever Hydra raises names the key or the file
        sys.exit(f"error: {path.name}: {error}")


def arguments(config: dict[str, dict[str, Any]]) -> list[str]:
    """The arguments of fairseq-train.

    Raises:
        ValueError: if a mandatory value is missing.
    """
    result: list[str] = []
    for group, values in config.items():
        for key, value in values.items():
            if value == "???":
                raise ValueError(f"{group}.{key} is missing: give {group}.{key}=VALUE")
            if (group, key) == ("task", "data"):
                result.insert(0, str(value))
            elif key == "_name":
                result += [f"--{NAMES[group]}", str(value)]
            elif value is True:
                result.append(f"--{key.replace('_', '-')}")
            elif isinstance(value, list):
                result += [f"--{key.replace('_', '-')}", ",".join(map(str, value))]
            elif value is not None and value is not False:
                result += [f"--{key.replace('_', '-')}", str(value)]
    return result


if __name__ == "__main__":
    main()
