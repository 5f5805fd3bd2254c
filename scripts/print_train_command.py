#!/usr/bin/env python3
"""Prints the arguments of fairseq-train that a configuration for fairseq-hydra-train stands for, one a line.

    python scripts/print_train_command.py configs/NAME.yaml [KEY=VALUE ...]

Overrides are written as for fairseq-hydra-train: ``task.data=DIR``, ``pair=fr-en``, ``model.dropout=0.2``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

from hydra.experimental import compose, initialize_config_dir
from omegaconf import OmegaConf

from recurrent_mt.evaluation.ablation.training_command import configuration_arguments


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
        values = cast("dict[str, Any]", OmegaConf.to_container(config, resolve=True))
        print("\n".join(configuration_arguments(values)))
    except Exception as error:  # whatever Hydra raises names the key or the file
        sys.exit(f"error: {path.name}: {error}")


if __name__ == "__main__":
    main()
