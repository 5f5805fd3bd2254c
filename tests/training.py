"""fairseq's trainer over a model without files: one process, CPU."""

from __future__ import annotations

import copy
import functools
from argparse import Namespace
from dataclasses import fields, is_dataclass

from fairseq import options
from fairseq.dataclass.configs import FairseqConfig
from fairseq.dataclass.utils import omegaconf_no_object_check
from fairseq.models import ARCH_MODEL_NAME_REGISTRY, MODEL_DATACLASS_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_DATACLASS_REGISTRY
from fairseq.trainer import Trainer
from omegaconf import DictConfig, OmegaConf
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
    """What fairseq makes of the flags: without Hydra, which takes a quarter of a second to compose the same."""
    return configuration_of(parse(criterion, flags))


def parse(criterion: str, flags: tuple[str, ...]) -> Namespace:
    """The options of a training with these flags."""
    line = ["data", "--arch", "gru_encoder", "--criterion", criterion, "--cpu", "--max-tokens", "100", *flags]
    return options.parse_args_and_arch(options.get_training_parser(), line)


def configuration_of(arguments: Namespace) -> DictConfig:
    """The configuration of a training, from its options."""
    kinds = {field.name: field.type for field in fields(FairseqConfig) if is_dataclass(field.type)}
    registries = {"task": TASK_DATACLASS_REGISTRY, "model": MODEL_DATACLASS_REGISTRY}
    registries |= {group: registry["dataclass_registry"] for group, registry in REGISTRIES.items()}
    names = {group: getattr(arguments, "arch" if group == "model" else group, None) for group in registries}
    for group, name in names.items():
        known = ARCH_MODEL_NAME_REGISTRY.get(name) if group == "model" else name
        if known in registries[group]:
            kinds[group] = registries[group][known]
    made = {group: OmegaConf.structured(kind.from_namespace(arguments)) for group, kind in kinds.items()}
    made = OmegaConf.to_container(OmegaConf.create(made), resolve=True, enum_to_str=True)
    config = OmegaConf.create({group: {**values, "_name": names.get(group)} for group, values in made.items()})
    with omegaconf_no_object_check():
        for group in {group for group, name in names.items() if name} - kinds.keys():
            # It has no dataclass, such as fairseq's SGD.
            config[group] = Namespace(**vars(arguments), _name=names[group])
    OmegaConf.set_struct(config, True)
    return config
