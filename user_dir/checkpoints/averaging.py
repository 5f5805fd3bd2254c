"""One model out of several checkpoints of a training: the mean of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf
from torch import Tensor

from fairseq_compat.changed_models import changed_options, model_options

from .model_file import read_checkpoint, write_model


def average_checkpoints(paths: Sequence[Path], out: Path, *, ema: bool = False) -> None:
    """Writes the mean of the models, with the options of the last (Junczys-Dowmunt et al. 2016, section 2.3).

    Works with any fairseq model.

    Args:
        paths: checkpoints of models of the same shapes.
        out: the file to write, without an optimizer's state.
        ema: average what fairseq's ``--store-ema`` has kept, the exponential moving averages, instead of the models.

    Raises:
        ValueError: if a file is missing or no checkpoint, if the models differ in their parameters or in options that
            change what they compute, or if one has no moving average though it is asked for.
    """
    sums: dict[str, Tensor] = {}
    first: Any = None
    for path in paths:
        state = read_checkpoint(path)
        first = model_options(state) if first is None else first
        if changes := changed_options(first, model_options(state)):
            raise ValueError(f"{paths[0]} and {path} hold different models: {', '.join(changes)}")
        parameters = state["model"]
        if ema:
            if "ema" not in state["extra_state"]:
                raise ValueError(f"{path} has no moving average: it was trained without --store-ema")
            parameters = state["extra_state"]["ema"]
        shapes = {name: tuple(value.shape) for name, value in parameters.items()}
        if sums and shapes != {name: tuple(value.shape) for name, value in sums.items()}:
            raise ValueError(f"{path} and {paths[0]} hold different models: their parameters differ in name or shape")
        for name, value in parameters.items():
            sums[name] = value.double() if name not in sums else sums[name] + value.double()
    means = {name: mean(total, len(paths), like=parameters[name]) for name, total in sums.items()}
    config = state["cfg"]
    if OmegaConf.is_config(config):
        config = OmegaConf.to_container(config, resolve=True, enum_to_str=True)
    write_model(out, config, means, state=state)


def mean(total: Tensor, count: int, *, like: Tensor) -> Tensor:
    """A sum as a mean in a parameter's own format; whole numbers, such as counters, are rounded down."""
    return (total / count if like.is_floating_point() else torch.floor(total / count)).to(like.dtype)
