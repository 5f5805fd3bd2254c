"""Checkpoints read and written as models: with options and parameters, without the state of a training."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from torch import Tensor

from recurrent_mt.text_files import write_aside

#: No values for the options that name files of pretrained embeddings: a trained model has its own.
NO_EMBEDDING_FILES = {"encoder_embed_path": None, "decoder_embed_path": None}

#: What tools load a model with: without those files, and with kernels that run where the tool does.
ANYWHERE = {**NO_EMBEDDING_FILES, "kernel_backend": "auto"}


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What a checkpoint holds.

    Raises:
        ValueError: if there is no such file, or if it is no checkpoint.
    """
    if not path.is_file():
        raise ValueError(f"there is no checkpoint {path}")
    try:
        return checkpoint_utils.load_checkpoint_to_cpu(str(path))
    except Exception as error:  # whatever PyTorch and fairseq raise for a file of another kind
        reason = (str(error) or type(error).__name__).partition("\n")[0]
        raise ValueError(f"{path} cannot be loaded: {reason}") from error


def write_model(path: Path, config: Any, parameters: Mapping[str, Tensor], *, state: Mapping[str, Any]) -> None:
    """Writes a model whole or not at all; the folder is created if missing.

    Args:
        path: the file.
        config: the model's options. Files of pretrained embeddings are left out: they need not exist any more.
        parameters: the model's.
        state: what else the checkpoint has; what concerns its training is left out.
    """
    model = config["model"]
    options = vars(model) if isinstance(model, Namespace) else model
    options.update({name: value for name, value in NO_EMBEDDING_FILES.items() if name in options})
    whole = {
        **state,
        "cfg": config,
        "model": dict(parameters),
        # fairseq looks at the last entry even if there was no training.
        "optimizer_history": [{"lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}},
        "last_optimizer_state": None,
    }
    with write_aside(path) as partial:
        torch.save(whole, partial)
