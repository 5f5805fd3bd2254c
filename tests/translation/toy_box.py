"""A run folder of three small untrained models, as a box has them: French to English in name."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from recurrent_mt.runs.folder import PARAMETERS
from recurrent_mt.translation.box import Manifest, write_manifest
from tests.checkpoints.checkpoints import write_checkpoint

LANGUAGES = ("fr", "en")
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "gru": ("gru_encoder", {"decoder_attention": "additive"}),
    "grconv": ("grconv_encoder", {"grconv_dilated": True, "encoder_hidden_size": 6}),
    "rnnenc": ("gru_encoder", {"decoder_attention": "none"}),
}
OPTIONS = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": "word:20", "TOKENIZER": "moses"}


def write_run(folder: Path, systems: Mapping[str, tuple[str, dict[str, Any]]] = ARCHITECTURES) -> Path:
    """Writes the folder, whose models have one pair of dictionaries."""
    (folder / "data").mkdir(parents=True)
    (folder / "options").write_text("".join(f"{name} {value}\n" for name, value in OPTIONS.items()))
    for seed, (name, (architecture, options)) in enumerate(systems.items()):
        torch.manual_seed(seed)
        write_checkpoint(folder / "data", architecture, LANGUAGES, **options)
        file = folder / PARAMETERS.format(name, 1)
        file.parent.mkdir(parents=True)
        shutil.move(folder / "data" / "checkpoint.pt", file)
    return folder


def write_box(folder: Path) -> Path:
    """The same, with a default."""
    write_manifest(write_run(folder), Manifest("gru"))
    return folder
