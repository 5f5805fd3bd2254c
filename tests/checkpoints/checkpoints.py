"""Checkpoints of small untrained models, as fairseq saves them, with their dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.dataclass.configs import FairseqConfig
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import OmegaConf

from tests.models import building
from user_dir.checkpoints.checkpoint import Checkpoint


def small_checkpoint(
    folder: Path,
    architecture: str,
    languages: tuple[str, str] = ("src", "tgt"),
    for_task: TranslationTask | None = None,
    **options: Any,
) -> Checkpoint:
    """Saves a model and loads it again; source words are s0 …, target words t0 …, unless a task has others."""
    task = for_task or building.task()
    task.source_dictionary.save(str(folder / f"dict.{languages[0]}.txt"))
    task.target_dictionary.save(str(folder / f"dict.{languages[1]}.txt"))
    model = building.build(architecture, task, **options)
    # fairseq prints no begin symbols, which an untrained model would produce as readily as other words.
    if getattr(model.decoder.output_projection, "bias", None) is not None:
        with torch.no_grad():
            model.decoder.output_projection.bias[task.target_dictionary.bos()] = -100.0
    config = OmegaConf.structured(FairseqConfig)
    values = building.models.MODEL_DATACLASS_REGISTRY[architecture]()
    for name, value in {**building.SIZES, **building.sizes_for(architecture, options), **options}.items():
        setattr(values, name, value)
    values._name = architecture
    config.model = OmegaConf.structured(values)
    config.task = OmegaConf.structured(
        TranslationConfig(
            _name="translation",
            data=str(folder),
            source_lang=languages[0],
            target_lang=languages[1],
            max_source_positions=64,
            max_target_positions=64,
        )
    )
    state = {
        "cfg": OmegaConf.to_container(config, enum_to_str=True),
        "args": None,
        "model": model.state_dict(),
        "task_state": {},
        "extra_state": {},
        "optimizer_history": [{"criterion_name": "", "optimizer_name": "", "lr_scheduler_state": {}, "num_updates": 0}],
    }
    checkpoint_utils.torch_persistent_save(state, str(folder / "checkpoint.pt"))
    return Checkpoint(folder / "checkpoint.pt", folder)
