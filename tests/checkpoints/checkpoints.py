"""Checkpoints of small untrained models, as fairseq saves them, with their dictionaries."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.dataclass.configs import FairseqConfig
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import OmegaConf

from tests.models import building
from user_dir.checkpoints.checkpoint import Checkpoint


def small_checkpoint(folder: Path, *args: Any, **options: Any) -> Checkpoint:
    """Writes a checkpoint and loads it again."""
    return Checkpoint(write_checkpoint(folder, *args, **options), folder)


def write_checkpoint(
    folder: Path,
    architecture: str,
    languages: tuple[str, str] = ("src", "tgt"),
    for_task: TranslationTask | None = None,
    **options: Any,
) -> Path:
    """Writes ``checkpoint.pt``; source words are s0 …, target words t0 …, unless a task has others."""
    task = for_task or building.task()
    task.source_dictionary.save(str(folder / f"dict.{languages[0]}.txt"))
    task.target_dictionary.save(str(folder / f"dict.{languages[1]}.txt"))
    model = building.build(architecture, task, **options)
    # fairseq prints no begin symbols, which an untrained model would produce as readily as other words.
    if getattr(model.decoder.output_projection, "bias", None) is not None:
        with torch.no_grad():
            model.decoder.output_projection.bias[task.target_dictionary.bos()] = -100.0
    values = {**building.SIZES, **building.sizes_for(architecture, options), **options, "_name": architecture}
    places = {"data": str(folder), "source_lang": languages[0], "target_lang": languages[1], "_name": "translation"}
    longest = {"max_source_positions": 64, "max_target_positions": 64}
    state = {
        "cfg": {
            **defaults(FairseqConfig),
            "model": {**defaults(building.models.MODEL_DATACLASS_REGISTRY[architecture]), **values},
            "task": {**defaults(TranslationConfig), **places, **longest},
        },
        "args": None,
        "model": model.state_dict(),
        "task_state": {},
        "extra_state": {},
        "optimizer_history": [{"criterion_name": "", "optimizer_name": "", "lr_scheduler_state": {}, "num_updates": 0}],
    }
    checkpoint_utils.torch_persistent_save(state, str(folder / "checkpoint.pt"))
    return folder / "checkpoint.pt"


@cache
def defaults(kind: type) -> dict[str, Any]:
    """The options of a dataclass, as fairseq saves them; OmegaConf takes half a second for all of fairseq's."""
    return OmegaConf.to_container(OmegaConf.structured(kind), enum_to_str=True)
