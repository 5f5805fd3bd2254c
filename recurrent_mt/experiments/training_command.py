"""What files of settings put on the command line of fairseq-train: options with values, and no code.

Such a file may come from anywhere. ``--user-dir`` would run the Python of a folder, other options write to a path, load
a model, or connect to an address, and a value that looks like an option is one, whatever stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

#: What the ``_name`` of a group of a configuration is called on the command line.
GROUPS = {
    "model": "arch",
    "task": "task",
    "criterion": "criterion",
    "optimizer": "optimizer",
    "lr_scheduler": "lr-scheduler",
}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
#: fairseq's options by which a training reaches out of its folder.
OUTWARD = re.compile(
    r"log_file|(tensorboard|wandb|aim|azureml|distributed)_\w+|nprocs_per_node|use_plasma_view|plasma_path"
    r"|save_dir|checkpoint_suffix|restore_file|continue_once|finetune_from_model|results_path"
)
#: fairseq's default, in the folder of the call.
SAVE_DIR = "checkpoints"
NEGATIVE_NUMBER = re.compile(r"-(\d+|\d*\.\d+)")


def check_training_flag(name: str, value: object) -> None:
    """Refuses what would become something else than the option ``--name`` with its value.

    Raises:
        ValueError: naming the option or the value.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an option")
    option = name.lower().replace("-", "_")
    if option == "user_dir":
        raise ValueError(f"{name} would run code: it cannot be set in a file")
    unused = value is None or value is False or (option, value) == ("save_dir", SAVE_DIR)
    if OUTWARD.fullmatch(option) and not unused:
        raise ValueError(f"{name} could write, load, or connect anywhere: it cannot be set in a file")
    check_training_value(name, value)


def check_training_value(name: str, value: object) -> None:
    """Refuses a value that a command line would not take as one.

    Raises:
        ValueError: naming the option and the value.
    """
    text = str(value)
    if text.startswith("-") and not NEGATIVE_NUMBER.fullmatch(text):
        raise ValueError(f"{name} is {text[:80]!r}: a value may not begin with '-'")
    if len(text.splitlines()) > 1 or "\0" in text:
        raise ValueError(f"{name} is {text[:80]!r}: a value must be one line")


def configuration_arguments(configuration: Mapping[str, Any], given: Collection[str] = ()) -> list[str]:
    """The arguments of fairseq-train that a configuration for fairseq-hydra-train stands for.

    Args:
        configuration: group to key to value.
        given: each ``GROUP.KEY`` whose value is the caller's own and not the file's.

    Raises:
        ValueError: if a mandatory value is missing, or something is no option with a value.
    """
    result: list[str] = []
    for group, values in configuration.items():
        if not isinstance(values, dict):
            raise ValueError(f"{group} must be a group of options, not {values!r}")
        for key, value in values.items():
            if value == "???":
                raise ValueError(f"{group}.{key} is missing: give {group}.{key}=VALUE")
            if (group, key) == ("task", "data"):
                check_training_value(key, value)
                result.insert(0, str(value))
            else:
                result += option_arguments(str(group), str(key), value, trusted=f"{group}.{key}" in given)
    return result


def option_arguments(group: str, key: str, value: Any, *, trusted: bool = False) -> list[str]:
    """The arguments of one option of a configuration; of a trusted one, only the form is checked.

    Raises:
        ValueError: if it is no option with a value.
    """
    if key == "_name":
        if group not in GROUPS:
            raise ValueError(f"{group} has no _name")
        key = GROUPS[group]
    if isinstance(value, list):
        value = ",".join(map(str, value))
    # The plug-in is always the caller's own, over whatever a file says.
    if (group, key) == ("common", "user_dir") or (trusted and key != "user_dir"):
        check_training_value(key, value)
    else:
        check_training_flag(key, value)
    if value is None or value is False:
        return []
    flag = f"--{key.replace('_', '-')}"
    return [flag] if value is True else [flag, str(value)]
