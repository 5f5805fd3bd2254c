"""Numbers that the authors' own code gave. They are not part of the project; the tests skip where they are absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "oracle"


def find(name: str) -> Path:
    """The file ``name``; skips the test if there is none."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"no {name}: numbers of the authors' code lie beside this project where it is developed")
    return path


def load(name: str) -> dict[str, np.ndarray]:
    """The arrays of ``name``; skips the test if there is no such file."""
    with np.load(find(name), allow_pickle=False) as arrays:
        return dict(arrays)
