"""The dilated grConv layer in one direction, forward and backward, against its matrix products."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from recurrent_mt.kernels.dilated_grconv import DilatedGRConvWeights, dilated_grconv

from .batches import draw_lengths
from .case import Case, Family
from .model_products import dilated_levels
from .packed_layer import Layer
from .parity import SENTENCES
from .setting import Setting


def prepare(setting: Setting, *, width: int, sets: int, sentences: int, length: int, lengths: str) -> Case:
    """The layer on packed leaves, with a gradient for sums and roots.

    Args:
        setting: the run's setting.
        width: H.
        sets: of weights; see :class:`~recurrent_mt.kernels.dilated_grconv.DilatedGRConvWeights`.
        sentences: B.
        length: leaves of the longest sentence.
        lengths: as in :func:`~benchmarks.batches.draw_lengths`.
    """
    leaves = draw_lengths(sentences, length, lengths, seed=1)
    layer = Layer(f"dilated_grconv_layer of width {width}", leaves, _weights(width, sets), setting, outputs)
    return Case(
        layer.passes(setting.backend, "tanh", setting.product_number),
        dilated_levels(leaves, width=width).all(),
        lambda: layer._replace(lengths=leaves[:SENTENCES]).check("tanh", setting.product_number),
        "words",
        sum(leaves),
    )


def outputs(leaves: Tensor, *weights: Tensor, **given: Any) -> list[Tensor]:
    """Sums and roots."""
    return list(dilated_grconv(leaves, DilatedGRConvWeights(*weights), **given)[1:3])


def _weights(width: int, sets: int) -> DilatedGRConvWeights:
    generator = torch.Generator().manual_seed(1)
    shapes = [(sets, width, width)] * 2 + [(sets, width)] + [(sets, 3, width)] * 2 + [(sets, 3)]
    return DilatedGRConvWeights(*(torch.randn(shape, generator=generator) / (2 * width) ** 0.5 for shape in shapes))


def _shape(width: int, length: int, sets: int = 1, sentences: int = 32, lengths: str = "mixed") -> dict[str, int | str]:
    return {"width": width, "sets": sets, "sentences": sentences, "length": length, "lengths": lengths}


FAMILY = Family(
    name="dilated_grconv_layer",
    about="the dilated grConv layer in one direction, forward and backward",
    prepare=prepare,
    shapes=(
        *(_shape(width, length) for width in (128, 256, 512) for length in (10, 30, 50)),
        _shape(128, 25, sentences=40, lengths="alike"),
        _shape(256, 30, sets=6),
        _shape(1000, 30),
    ),
    quick=(_shape(8, 6, sentences=3), _shape(8, 6, sets=4, sentences=3)),
    growth=_shape(128, 20, sentences=16, lengths="equal"),
    small_growth=_shape(8, 4, sentences=2, lengths="equal"),
)
