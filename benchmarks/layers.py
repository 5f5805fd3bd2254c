"""The grConv layers, forward and backward; there are no stock layers of this kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from recurrent_mt.layers.grconv import DilatedGRConvEncoder, GRConvEncoder

from .case import Case, Family, Setting, Shape
from .parity import SENTENCES, assert_parity, constant_gradient
from .systems import draw_lengths


class LayerPasses:
    """Forward and backward passes of a layer over one batch: annotations, summary, and all gradients.

    Args:
        setting: the run's setting.
        build: makes the layer with an activation, always with the same weights.
        width: E, and the units of a node.
        lengths: of the sentences, in words.
    """

    def __init__(self, setting: Setting, build: Callable[[str], nn.Module], width: int, lengths: list[int]) -> None:
        self.setting, self.build, self.lengths = setting, build, torch.tensor(lengths)
        generator = torch.Generator().manual_seed(2)
        self.embedded = torch.randn(len(lengths), max(lengths), width, generator=generator)

    def make(
        self, activation: str, dtype: torch.dtype, *, sentences: int | None = None, exact: bool = False
    ) -> Callable[[], list[Tensor]]:
        """A pass.

        Args:
            activation: of the candidates.
            dtype: the format of all numbers, which are first rounded to the run's; for the run's own, of the products.
            sentences: only so many, the first; None: all.
            exact: whether all is computed in that dtype, products too.
        """
        setting = self.setting
        narrow = setting.autocast and not exact and dtype == setting.products
        number = setting.weights if narrow else dtype
        torch.manual_seed(1)
        layer = self.build(activation).to(setting.device, setting.weights).to(number)
        embedded = self.embedded[:sentences].to(setting.device, setting.weights).to(number).requires_grad_()
        padding = (torch.arange(embedded.size(1)) >= self.lengths[:sentences, None]).to(setting.device)
        wanted = [embedded, *layer.parameters()]

        def run() -> list[Tensor]:
            with torch.autocast(setting.device, dtype=dtype, enabled=narrow):
                encoded = layer(embedded, padding)
            outputs = [encoded.annotations, encoded.summary]
            return [*outputs, *torch.autograd.grad(outputs, wanted, list(map(constant_gradient, outputs)))]

        return run

    def check(self, activation: str, dtype: torch.dtype) -> None:
        """Raises ParityError unless a pass in this dtype agrees with the reference."""
        assert_parity(
            f"layer of width {self.embedded.size(-1)}, {activation}",
            self.make(activation, dtype, sentences=SENTENCES),
            lambda wide: self.make(activation, wide, sentences=SENTENCES, exact=True)(),
            dtype,
        )


#: Pyramids: Cho et al.'s (2014b) and others, as options of the layer.
PYRAMIDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "height 4": {"height": 4},
    "nodes to level 2": {"annotation_height": 2},
}


def prepare_pyramid(setting: Setting, *, units: int, pyramid: str, sentences: int, length: int, lengths: str) -> Case:
    """The layer of so many units, with relu."""
    words = draw_lengths(sentences, length, lengths, seed=1)

    def build(activation: str) -> nn.Module:
        return GRConvEncoder(units, units, activation=activation, **PYRAMIDS[pyramid])

    layer = LayerPasses(setting, build, units, words)

    def check() -> None:
        # A relu whose sum is rounded across zero has a different slope: with few bits, the check uses tanh.
        layer.check("tanh", setting.products)
        layer.check("relu", torch.float64)

    return Case(layer.make("relu", setting.products), check, "words", sum(words))


def _pyramid_shape(units: int, length: int, pyramid: str = "plain", sentences: int = 32) -> Shape:
    return {"units": units, "pyramid": pyramid, "sentences": sentences, "length": length, "lengths": "mixed"}


GRCONV_LAYER = Family(
    name="grconv_layer",
    about="the grConv layer, forward and backward",
    case=prepare_pyramid,
    shapes=(
        *(_pyramid_shape(256, length) for length in (10, 30, 50)),
        *(_pyramid_shape(512, length) for length in (10, 30, 50)),
        _pyramid_shape(1000, 30),
        _pyramid_shape(1000, 50),
        _pyramid_shape(2000, 30, sentences=8),
        _pyramid_shape(2000, 50, sentences=8),
        *(_pyramid_shape(512, 30, pyramid) for pyramid in PYRAMIDS if pyramid != "plain"),
    ),
    quick=tuple(_pyramid_shape(8, 6, pyramid, sentences=3) for pyramid in PYRAMIDS),
    growth={"units": 256, "pyramid": "plain", "sentences": 16, "length": 20, "lengths": "equal"},
)


def prepare_dilated(setting: Setting, *, units: int, height: int, sentences: int, length: int, lengths: str) -> Case:
    """The layer of so many units for each direction.

    The height is the last level, each with weights of its own; 0: as many as merge all words, with shared weights.
    """
    words = draw_lengths(sentences, length, lengths, seed=1)

    def build(activation: str) -> nn.Module:
        assert activation == "tanh", "the merges of a dilated grConv have no other"
        return DilatedGRConvEncoder(units, 2 * units, height=height, weight_sets=height or 1)

    layer = LayerPasses(setting, build, units, words)
    run = layer.make("tanh", setting.products)
    return Case(run, lambda: layer.check("tanh", setting.products), "words", sum(words))


def _dilated_shape(
    units: int, length: int, *, height: int = 4, sentences: int = 32, lengths: str = "mixed"
) -> dict[str, int | str]:
    return {"units": units, "height": height, "sentences": sentences, "length": length, "lengths": lengths}


DILATED_GRCONV_LAYER = Family(
    name="dilated_grconv_layer",
    about="the dilated grConv layer, forward and backward",
    case=prepare_dilated,
    shapes=(
        *(_dilated_shape(units, length) for units in (128, 256, 512) for length in (10, 30, 50)),
        _dilated_shape(128, 25, sentences=40, lengths="alike"),
        *(_dilated_shape(128, length, height=0) for length in (10, 30, 50)),
        _dilated_shape(1000, 30),
    ),
    quick=(_dilated_shape(8, 6, height=0, sentences=3), _dilated_shape(8, 6, height=2, sentences=3)),
    growth=_dilated_shape(128, 20, sentences=16, lengths="equal"),
)
