"""fairseq's trainer over a model without files: one process, CPU."""

from __future__ import annotations

import copy
import functools

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.trainer import Trainer
from omegaconf import DictConfig
from torch import nn

from tests.models.building import task

#: Flags of most tests: a configuration is made once for each set of them.
ADAM = ("--optimizer", "adam", "--lr", "0.01", "--clip-norm", "2")


def trainer(model: nn.Module, criterion: str, *flags: str, save_dir: str = "checkpoints") -> Trainer:
    """A trainer as fairseq-train builds it from these flags; nothing is loaded and no folder is made."""
    config = copy.deepcopy(configuration(criterion, flags))
    config.checkpoint.save_dir = save_dir
    for_task = task()
    return Trainer(config, for_task, model, for_task.build_criterion(config.criterion))


@functools.cache
def configuration(criterion: str, flags: tuple[str, ...]) -> DictConfig:
    """What fairseq makes of the flags."""
    line = ["data", "--arch", "gru_encoder", "--criterion", criterion, "--cpu", "--max-tokens", "100", *flags]
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), line))
