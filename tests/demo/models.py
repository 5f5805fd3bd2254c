"""Small untrained models for the page: one with attention, one without, and a pyramid."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.checkpoints.checkpoints import small_checkpoint

ARCHITECTURES = {
    "attentive": ("gru_encoder", {"decoder_attention": "additive"}),
    "fixed": ("gru_encoder", {"decoder_attention": "none"}),
    "pyramid": ("grconv_encoder", {"decoder_attention": "none"}),
}


def write_models(folder: Path) -> dict[str, Path]:
    """The checkpoints, each in a folder of its name with its dictionaries."""
    paths = {}
    for seed, (name, (architecture, options)) in enumerate(ARCHITECTURES.items()):
        (folder / name).mkdir()
        torch.manual_seed(seed)
        small_checkpoint(folder / name, architecture, **options)
        paths[name] = folder / name / "checkpoint.pt"
    return paths
