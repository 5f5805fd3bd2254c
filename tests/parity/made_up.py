"""Models of GroundHog with random numbers."""

from __future__ import annotations

import numpy as np

from user_dir.cli.import_groundhog import expected_shapes


def made_up(kind, sizes, *, seed):
    """Parameters of these sizes, neither too small to be seen nor too large for a pyramid, and sentence pairs."""
    generator = np.random.default_rng(seed)
    full = {**sizes, "M": sizes["H"] // 2, "C": (2 if kind == "rnnsearch" else 1) * sizes["H"]}
    arrays = {
        name: generator.normal(scale=shape[0] ** -0.5, size=shape).astype(np.float32)
        for name, shape in expected_shapes(kind, full).items()
    }
    sentences = [
        tuple([*generator.integers(0, sizes[side] - 1, length), sizes[side] - 1] for side in "ST")
        for length in (0, 1, 2, 5, 11)
    ]
    return arrays, sentences
