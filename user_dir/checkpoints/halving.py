"""Trained models in half precision, to hand on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import torch

from .checkpoint import change_parameters, read_checkpoint, write_model


class ModelFacts(NamedTuple):
    """What a checkpoint says of its model."""

    architecture: str  # fairseq's name of it
    parameters: int  # how many, shared ones counted once
    updates: int  # of its training
    epochs: int  # begun


def write_half_precision(checkpoint: Path, path: Path) -> ModelFacts:
    """Writes the model of a checkpoint with parameters of 16 bits; whoever loads it computes in 32.

    Left out are the optimizer's state, what was measured, and all names of files and folders. Products are those of
    single precision again, whatever the training had.

    Raises:
        ValueError: if the checkpoint cannot be read, or a number is too large for 16 bits.
    """
    state = read_checkpoint(checkpoint)
    # Whole numbers stay.
    halved = change_parameters(state["model"], lambda _, value: value.half() if value.is_floating_point() else value)
    for name, parameter in halved.items():
        if not torch.isfinite(parameter).all():
            raise ValueError(f"{checkpoint}: {name} has numbers that half precision cannot hold")
    config = forget_places(state["cfg"])
    if "autocast" in config["model"]:
        config["model"]["autocast"] = "none"
    write_model(path, config, halved, state={"args": None, "task_state": {}})
    extra, history = state.get("extra_state") or {}, state.get("optimizer_history") or [{}]
    different = {parameter.data_ptr(): parameter.numel() for parameter in halved.values()}
    return ModelFacts(
        str(config["model"]["_name"]),
        sum(different.values()),
        int(history[-1].get("num_updates", 0)),
        int((extra.get("train_iterator") or {}).get("epoch", 0)),
    )


def forget_places(options: Any) -> Any:
    """Options without the values that name a place on this machine."""
    if isinstance(options, dict):
        return {name: forget_places(value) for name, value in options.items()}
    if isinstance(options, list):
        return [forget_places(value) for value in options]
    return "" if isinstance(options, str) and any(Path(part).is_absolute() for part in options.split(":")) else options
