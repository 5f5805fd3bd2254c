"""How many updates several trainings make in the same hours of this processor, before any of them starts.

    python -m benchmarks.trainings --hours 3 "gru=DATA --arch gru_encoder ..." "fconv=DATA --arch fconv ..."

Each argument is a name and the arguments of ``fairseq-train``. All take turns on the same batches, so that a load on
the machine slows all of them. Trainings with the updates of the table (``--max-update``) then compare as after these
hours, whatever else the machine does meanwhile. Only updates are timed: no validation, no reading, no checkpoints.
"""

from __future__ import annotations

import argparse
import logging
import shlex
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from statistics import median
from typing import Any

import torch
from fairseq import options as fairseq_options
from fairseq import tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.trainer import Trainer

from .measurement import time_in_turn


def build_trainer(arguments: Sequence[str]) -> Trainer:
    """The trainer that ``fairseq-train`` makes of its arguments, with new weights."""
    parser = fairseq_options.get_training_parser()
    config = convert_namespace_to_omegaconf(fairseq_options.parse_args_and_arch(parser, [*arguments]))
    torch.manual_seed(config.common.seed)
    task = tasks.setup_task(config.task)
    return Trainer(config, task, task.build_model(config.model), task.build_criterion(config.criterion))


def first_batches(trainer: Trainer, count: int) -> list[dict[str, Any]]:
    """The first batches of its first epoch."""
    trainer.task.load_dataset("train")
    return list(islice(trainer.get_train_iterator(epoch=1).next_epoch_itr(shuffle=True), count))


def batches_of(trainer: Trainer) -> tuple[Dictionary, Dictionary, int | None, int | None]:
    """What its batches depend on: the dictionaries, and how many tokens and sentences one may have."""
    task, limits = trainer.task, trainer.cfg.dataset
    return task.source_dictionary, task.target_dictionary, limits.max_tokens, limits.batch_size


def measure(trainers: Mapping[str, Trainer], batches: Sequence[dict[str, Any]], *, seconds: float) -> dict[str, float]:
    """The seconds that an update of each takes, the mean over batches of the medians over rounds.

    Args:
        trainers: by name.
        batches: the same for all of them.
        seconds: how long to time them, but never for fewer than :data:`~benchmarks.measurement.FEWEST` rounds.

    Raises:
        ValueError: if their dictionaries differ, or the sizes of their own batches, or if one has several an update.
    """
    first, *others = trainers
    for name in others:
        if batches_of(trainers[name]) != batches_of(trainers[first]):
            raise ValueError(
                f"{name} and {first} have different dictionaries, --max-tokens, or --batch-size, and all are timed on "
                f"the batches of {first}: give both the same"
            )
    for name, trainer in trainers.items():
        if trainer.cfg.optimization.update_freq != [1]:
            raise ValueError(f"{name} has --update-freq, and a batch is timed, not an update of several: leave it out")
    for trainer in trainers.values():
        trainer.begin_epoch(1)
    totals = dict.fromkeys(trainers, 0.0)
    for batch in batches:
        runs = {name: partial(trainer.train_step, [batch]) for name, trainer in trainers.items()}
        for name, taken in time_in_turn(runs, seconds=seconds / len(batches)).items():
            totals[name] += median(taken) / len(batches)
    return totals


def count_trained(trainer: Trainer) -> int:
    """The parameters that its last update had gradients for: not the copies that fairseq's transformer keeps."""
    return sum(weight.numel() for weight in trainer.model.parameters() if weight.grad is not None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints each training's size, its words a second, and the updates that it makes in the hours."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trainings", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trainings", nargs="+", metavar="NAME=ARGUMENTS", help="of fairseq-train, as one word")
    parser.add_argument("--hours", type=float, default=1.0, help="that each training would have (default: 1)")
    parser.add_argument("--batches", type=int, default=8, help="how many batches are timed (default: 8)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to time them (default: 60)")
    parser.add_argument("--threads", type=int, default=1, help="torch's threads (default: 1)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    trainers = {}
    for training in options.trainings:
        name, mark, line = training.partition("=")
        if not mark or name in trainers:
            parser.error(f"not a NAME=ARGUMENTS with a name of its own: {training}")
        trainers[name] = build_trainer(shlex.split(line))
    batches = first_batches(next(iter(trainers.values())), options.batches)
    try:
        seconds = measure(trainers, batches, seconds=options.seconds)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    words = sum(batch["ntokens"] for batch in batches) / len(batches)
    print(f"| | parameters | target words a second | updates in {options.hours:g} h |\n|---|---:|---:|---:|")
    for name, own in seconds.items():
        size = count_trained(trainers[name])
        print(f"| {name} | {size:,} | {words / own:,.0f} | {options.hours * 3600 / own:,.0f} |")


if __name__ == "__main__":
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")  # fairseq's models make torch announce what it will drop
    main()
