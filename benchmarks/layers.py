"""The grConv layers, forward and backward; there are no stock layers of this kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from recurrent_mt.kernels.dilated_grconv import DilatedGRConvWeights, dilated_grconv
from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from recurrent_mt.kernels.packing import make_packing

from .case import Case, Family, Setting, Shape
from .parity import SENTENCES, assert_parity, constant_gradient
from .systems import draw_lengths


class Layer(NamedTuple):
    """A layer over packed leaves, without its batch.

    Attributes:
        name: for messages.
        lengths: the number of leaves of each sentence.
        weights: what it has besides them.
        setting: the run's setting.
        outputs: its outputs, from leaves and weights, with ``counts``, ``activation`` and ``backend``.
    """

    name: str
    lengths: list[int]
    weights: Sequence[Tensor]
    setting: Setting
    outputs: Callable[..., Sequence[Tensor]]

    def passes(self, backend: str, activation: str, dtype: torch.dtype) -> Callable[[], list[Tensor]]:
        """A forward and backward pass: outputs and gradients.

        Args:
            backend: the kernel's.
            activation: of the candidates.
            dtype: the format of all numbers, which are first rounded to the run's; for the run's own, of the products.
        """
        narrow = self.setting.autocast and backend != "reference" and dtype == self.setting.products
        generator = torch.Generator().manual_seed(2)
        own = self.setting.weights if narrow else dtype
        packing = make_packing(torch.arange(max(self.lengths)) >= torch.tensor(self.lengths)[:, None])
        leaves = torch.randn(sum(self.lengths), self.weights[0].size(-1), generator=generator)
        leaves, *weights = (
            tensor.to(self.setting.device, self.setting.weights).to(own).requires_grad_()
            for tensor in (leaves, *self.weights)
        )

        def run() -> list[Tensor]:
            with torch.autocast(self.setting.device, dtype=dtype, enabled=narrow):
                outputs = self.outputs(leaves, *weights, counts=packing.counts, activation=activation, backend=backend)
            outputs = [rows for rows in outputs if rows.requires_grad and rows.numel()]
            gradients = [constant_gradient(rows) for rows in outputs]
            return [*outputs, *torch.autograd.grad(outputs, [leaves, *weights], gradients)]

        return run

    def check(self, activation: str, dtype: torch.dtype) -> None:
        """Raises ParityError unless the pass in this dtype agrees with the reference."""
        assert_parity(
            f"{self.name}, {activation}",
            self.passes(self.setting.backend, activation, dtype),
            lambda exact: self.passes("reference", activation, exact)(),
            dtype,
        )


#: Pyramids: Cho et al.'s (2014b) and others, as options of the kernel.
PYRAMIDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "height 4": {"height": 4},
    "nodes to level 2": {"annotation_height": 2},
}


def prepare_pyramid(setting: Setting, *, width: int, pyramid: str, sentences: int, length: int, lengths: str) -> Case:
    """The layer of this width H on packed leaves, with relu, with a gradient for every output of the pyramid."""

    def compute(leaves: Tensor, *weights: Tensor, **given: Any) -> list[Tensor]:
        output = grconv(leaves, GRConvWeights(*weights), **given, **PYRAMIDS[pyramid])
        return [output.summaries, output.nodes]

    leaves = draw_lengths(sentences, length, lengths, seed=1)
    layer = Layer(f"grconv_layer of width {width}", leaves, draw_weights(width), setting, compute)

    def check() -> None:
        # A relu whose sum is rounded across zero has a different slope: with few bits, the check uses tanh.
        few = layer._replace(lengths=leaves[:SENTENCES])
        few.check("tanh", setting.products)
        few.check("relu", torch.float64)

    return Case(layer.passes(setting.backend, "relu", setting.products), check, "words", sum(leaves))


def draw_weights(width: int, *sets: int) -> list[Tensor]:
    """What merges two nodes of this width: both factors and the bias of the candidate, then of the three gates."""
    generator = torch.Generator().manual_seed(1)
    shapes = [(width, width), (width, width), (width,), (3, width), (3, width), (3,)]
    return [torch.randn((*sets, *shape), generator=generator) / (2 * width) ** 0.5 for shape in shapes]


def _pyramid_shape(width: int, length: int, pyramid: str = "plain", sentences: int = 32) -> Shape:
    return {"width": width, "pyramid": pyramid, "sentences": sentences, "length": length, "lengths": "mixed"}


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
    growth={"width": 256, "pyramid": "plain", "sentences": 16, "length": 20, "lengths": "equal"},
    small_growth={"width": 8, "pyramid": "plain", "sentences": 2, "length": 4, "lengths": "equal"},
)


def prepare_dilated(setting: Setting, *, width: int, height: int, sentences: int, length: int, lengths: str) -> Case:
    """The layer of this width H on packed leaves, with a gradient for sums and roots.

    The height is the last level, each with weights of its own; 0: as many as merge all leaves, with shared weights.
    """

    def compute(leaves: Tensor, *weights: Tensor, activation: str, **given: Any) -> list[Tensor]:
        assert activation == "tanh", "the merges of a dilated grConv have no other"
        return list(dilated_grconv(leaves, DilatedGRConvWeights(*weights), height=height, **given)[1:3])

    leaves = draw_lengths(sentences, length, lengths, seed=1)
    layer = Layer(f"dilated_grconv_layer of width {width}", leaves, draw_weights(width, height or 1), setting, compute)
    return Case(
        layer.passes(setting.backend, "tanh", setting.products),
        lambda: layer._replace(lengths=leaves[:SENTENCES]).check("tanh", setting.products),
        "words",
        sum(leaves),
    )


def _dilated_shape(
    width: int, length: int, *, height: int = 4, sentences: int = 32, lengths: str = "mixed"
) -> dict[str, int | str]:
    return {"width": width, "height": height, "sentences": sentences, "length": length, "lengths": lengths}


DILATED_GRCONV_LAYER = Family(
    name="dilated_grconv_layer",
    about="the dilated grConv layer in one direction, forward and backward",
    case=prepare_dilated,
    shapes=(
        *(_dilated_shape(width, length) for width in (128, 256, 512) for length in (10, 30, 50)),
        _dilated_shape(128, 25, sentences=40, lengths="alike"),
        *(_dilated_shape(128, length, height=0) for length in (10, 30, 50)),
        _dilated_shape(1000, 30),
    ),
    quick=(_dilated_shape(8, 6, height=0, sentences=3), _dilated_shape(8, 6, height=2, sentences=3)),
    growth=_dilated_shape(128, 20, sentences=16, lengths="equal"),
    small_growth=_dilated_shape(8, 4, sentences=2, lengths="equal"),
)
