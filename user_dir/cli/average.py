"""Averages the parameters of checkpoints, of any fairseq model.

    recurrent-mt average checkpoints/checkpoint{8,9,10}.pt --out averaged.pt
    recurrent-mt average checkpoints/checkpoint_last.pt --ema --out ema.pt

fairseq's own script for this is not installed with it. With --ema, the exponential moving averages are taken that
fairseq-train --store-ema has kept in the checkpoints; one checkpoint is enough. The result translates, and can be
fine-tuned with --finetune-from-model; a training cannot go on from it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from recurrent_mt.text_files import check_output_files

from ..checkpoints.checkpoint import change_parameters, read_checkpoint, write_model


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoints", type=Path, nargs="+", help="checkpoints of one training")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--ema", action="store_true", help="take the moving averages of --store-ema")


def run(options: argparse.Namespace) -> None:
    """Writes the mean."""
    check_output_files(options.checkpoints, [options.out])
    average_checkpoints(options.checkpoints, options.out, ema=options.ema)
    print(options.out)


def average_checkpoints(paths: Sequence[Path], out: Path, *, ema: bool = False) -> None:
    """Writes the mean of the models, with the options of the last (Junczys-Dowmunt et al. 2016, section 2.3).

    Works with any fairseq model.

    Args:
        paths: checkpoints of models of the same shapes.
        out: the file to write, without an optimizer's state.
        ema: average what fairseq's ``--store-ema`` has kept, the exponential moving averages, instead of the models.

    Raises:
        ValueError: if a file is missing or no checkpoint, if the models differ in the names or shapes of their
            parameters, or if one has no moving average though it is asked for.
    """
    sums: dict[str, Tensor] = {}
    for path in paths:
        state = read_checkpoint(path)
        parameters = state["model"]
        if ema:
            if "ema" not in state["extra_state"]:
                raise ValueError(f"{path} has no moving average: it was trained without --store-ema")
            # In 16 bits, "ema" is a rounded copy.
            parameters = state["extra_state"].get("ema_fp32_params", state["extra_state"]["ema"])
        if sums and shapes(sums) != shapes(parameters):
            raise ValueError(f"{path} and {paths[0]} hold different models: their parameters differ in name or shape")
        for name, value in parameters.items():
            sums[name] = value.double() if name not in sums else sums[name] + value.double()
    means = change_parameters(parameters, lambda name, value: mean(sums[name], len(paths), like=value))
    write_model(out, state["cfg"], means, state=state)


def shapes(parameters: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    """The shape of each parameter."""
    return {name: value.shape for name, value in parameters.items()}


def mean(total: Tensor, count: int, *, like: Tensor) -> Tensor:
    """A sum as a mean in a parameter's own format; whole numbers, such as counters, are rounded down."""
    return (total / count if like.is_floating_point() else torch.floor(total / count)).to(like.dtype)
