"""The linear layer of all models here: PyTorch's, computed by this project's kernels where they are faster."""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn

from ..kernels.linear import linear


class Linear(nn.Linear):
    """W x + b; see :func:`recurrent_mt.kernels.linear.linear`."""

    def forward(self, rows: Tensor) -> Tensor:
        """(…, K) → (…, M)."""
        return linear(rows, self.weight, self.bias)


def output_layers(output: nn.Module) -> list[nn.Linear]:
    """The layers from a decoder's features to scores: one, or two."""
    return cast("list[nn.Linear]", list(output) if isinstance(output, nn.Sequential) else [output])
