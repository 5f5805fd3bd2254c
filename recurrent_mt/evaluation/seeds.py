"""The seeds of a run folder's systems; alone here, so that a model is loaded without pandas."""

from __future__ import annotations

from pathlib import Path


def seed_of(file: Path) -> int:
    """The seed of a file in ``seed-N``."""
    return int(file.parent.name.removeprefix("seed-"))
