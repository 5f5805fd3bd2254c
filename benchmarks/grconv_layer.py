"""The grConv layer, forward and backward, against its matrix products; there is no stock layer of this kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from recurrent_mt.kernels.grconv import GRConvWeights, grconv

from .batches import draw_lengths
from .case import Case, Family
from .model_products import grconv_levels
from .packed_layer import Layer
from .parity import SENTENCES
from .setting import Setting

#: Pyramids: Cho et al.'s (2014b) and others, as options of the kernel.
PYRAMIDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "height 4": {"height": 4},
    "nodes to level 2": {"annotation_height": 2},
    "unit gates": {"unit_gates": True},
}


def prepare(setting: Setting, *, width: int, pyramid: str, sentences: int, length: int, lengths: str) -> Case:
    """The layer on packed leaves, with relu, with a gradient for every output.

    Args:
        setting: the run's setting.
        width: H.
        pyramid: a name of :data:`PYRAMIDS`.
        sentences: B.
        length: leaves of the longest sentence.
        lengths: as in :func:`~benchmarks.batches.draw_lengths`.
    """
    options = dict(PYRAMIDS[pyramid])
    unit_gates = options.pop("unit_gates", False)
    leaves = draw_lengths(sentences, length, lengths, seed=1)
    weights = _weights(width, 3 * width if unit_gates else 3)
    gates = weights.gate_bias.numel()
    layer = Layer(f"grconv_layer of width {width}", leaves, weights, setting, outputs_of_pyramid(**options))

    def check() -> None:
        # A relu whose sum is rounded across zero has a different slope: with few bits, the check uses tanh.
        few = layer._replace(lengths=leaves[:SENTENCES])
        few.check("tanh", setting.product_number)
        few.check("relu", torch.float64)

    return Case(
        layer.passes(setting.backend, "relu", setting.product_number),
        grconv_levels(leaves, width=width, gates=gates, height=options.get("height", 0)).all(),
        check,
        "words",
        sum(leaves),
    )


def outputs_of_pyramid(**options: Any) -> Callable[..., list[Tensor]]:
    """Roots, and nodes if any are returned, of leaves and weights."""

    def run(leaves: Tensor, *weights: Tensor, **given: Any) -> list[Tensor]:
        output = grconv(leaves, GRConvWeights(*weights), **given, **options)
        return [output.summaries, output.nodes]

    return run


def _weights(width: int, gates: int) -> GRConvWeights:
    generator = torch.Generator().manual_seed(1)
    shapes = [(width, width), (width, width), (width,), (gates, width), (gates, width), (gates,)]
    return GRConvWeights(*(torch.randn(shape, generator=generator) / (2 * width) ** 0.5 for shape in shapes))


def _shape(width: int, length: int, pyramid: str = "plain", sentences: int = 32) -> dict[str, int | str]:
    return {"width": width, "pyramid": pyramid, "sentences": sentences, "length": length, "lengths": "mixed"}


FAMILY = Family(
    name="grconv_layer",
    about="the grConv layer, forward and backward",
    prepare=prepare,
    shapes=(
        *(_shape(256, length) for length in (10, 30, 50)),
        *(_shape(512, length) for length in (10, 30, 50)),
        _shape(1000, 30),
        _shape(1000, 50),
        _shape(2000, 30, sentences=8),
        _shape(2000, 50, sentences=8),
        *(_shape(512, 30, pyramid) for pyramid in PYRAMIDS if pyramid != "plain"),
    ),
    quick=tuple(_shape(8, 6, pyramid, sentences=3) for pyramid in PYRAMIDS),
    growth={"width": 256, "pyramid": "plain", "sentences": 16, "length": 20, "lengths": "equal"},
    small_growth={"width": 8, "pyramid": "plain", "sentences": 2, "length": 4, "lengths": "equal"},
)
