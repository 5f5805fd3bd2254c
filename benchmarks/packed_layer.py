"""A layer over packed leaves, forward and backward, for the families of grConv's layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from recurrent_mt.kernels.packing import make_packing

from .parity import assert_parity, constant_gradient
from .setting import Setting


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
        narrow = self.setting.autocast and backend != "reference" and dtype == self.setting.product_number
        generator = torch.Generator().manual_seed(2)
        number = self.setting.number if narrow else dtype
        packing = make_packing(torch.arange(max(self.lengths)) >= torch.tensor(self.lengths)[:, None])
        leaves = torch.randn(sum(self.lengths), self.weights[0].size(-1), generator=generator)
        leaves, *weights = (
            tensor.to(self.setting.device, self.setting.number).to(number).requires_grad_()
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
            lambda number: self.passes("reference", activation, number)(),
            dtype,
        )
