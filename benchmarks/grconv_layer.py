"""The grConv layer, forward and backward, against its matrix products; there is no stock layer of this kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from recurrent_mt.kernels.packing import make_packing

from .batches import draw_lengths
from .contest import Contest, Family
from .model_products import grconv_levels
from .parity import SENTENCES, assert_parity, constant_gradient
from .setting import Setting

#: Pyramids: Cho et al.'s (2014b) and others, as options of the kernel.
PYRAMIDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "height 4": {"height": 4},
    "nodes to level 2": {"annotation_height": 2},
    "unit gates": {"unit_gates": True},
}


def prepare(setting: Setting, *, width: int, pyramid: str, sentences: int, length: int, lengths: str) -> Contest:
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

    def check() -> None:
        # A relu whose sum is rounded across zero has a different slope: with few bits, the check uses tanh.
        few = Layer(leaves[:SENTENCES], weights, setting, options)
        few.check("tanh", setting.product_number)
        few.check("relu", torch.float64)

    return Contest(
        Layer(leaves, weights, setting, options).passes(setting.backend, "relu", setting.product_number),
        grconv_levels(leaves, width=width, gates=gates, height=options.get("height", 0)).all(),
        check,
        "words",
        sum(leaves),
    )


def _weights(width: int, gates: int) -> GRConvWeights:
    generator = torch.Generator().manual_seed(1)
    shapes = [(width, width), (width, width), (width,), (gates, width), (gates, width), (gates,)]
    return GRConvWeights(*(torch.randn(shape, generator=generator) / (2 * width) ** 0.5 for shape in shapes))


class Layer(NamedTuple):
    """Weights, and the number of leaves of each sentence."""

    lengths: list[int]
    weights: GRConvWeights
    setting: Setting
    options: dict[str, Any]

    def passes(self, backend: str, activation: str, dtype: torch.dtype) -> Callable[[], list[Tensor]]:
        """A forward and backward pass: outputs and gradients.

        Args:
            backend: the kernel's.
            activation: of the candidates.
            dtype: the format of all numbers, which are first rounded to the run's; for the run's own, of the products.
        """
        narrow = self.setting.autocast and backend != "reference" and dtype == self.setting.product_number
        generator = torch.Generator().manual_seed(2)
        number = self.setting.number if narrow else dtype
        packing = make_packing(torch.arange(max(self.lengths)) >= torch.tensor(self.lengths)[:, None])
        leaves = torch.randn(sum(self.lengths), self.weights.left.size(0), generator=generator)
        leaves, *weights = (
            tensor.to(self.setting.device, self.setting.number).to(number).requires_grad_()
            for tensor in (leaves, *self.weights)
        )

        def run() -> list[Tensor]:
            with torch.autocast(self.setting.device, dtype=dtype, enabled=narrow):
                output = grconv(
                    leaves,
                    GRConvWeights(*weights),
                    counts=packing.counts,
                    activation=activation,
                    backend=backend,
                    **self.options,
                )
            outputs = [rows for rows in (output.summaries, output.nodes) if rows.requires_grad and rows.numel()]
            gradients = [constant_gradient(rows) for rows in outputs]
            return [*outputs, *torch.autograd.grad(outputs, [leaves, *weights], gradients)]

        return run

    def check(self, activation: str, dtype: torch.dtype) -> None:
        """Raises ParityError unless the pass in this dtype agrees with the reference."""
        assert_parity(
            f"grconv_layer of width {self.weights.left.size(0)}, {activation}",
            self.passes(self.setting.backend, activation, dtype),
            lambda number: self.passes("reference", activation, number)(),
            dtype,
        )


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
