"""The gated recurrent unit of ``packed``, with everything between its matrix products in Triton."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import check_triton
from ..matrix import Matrix
from . import packed


def gru(
    inputs: Tensor,
    initial: Tensor,
    gate: Matrix,
    candidate: Matrix,
    counts: Sequence[int],
    time_gate: Tensor | None,
) -> Tensor:
    """Computes :func:`recurrent_mt.kernels.gru.gru` with Triton kernels."""
    check_triton("gru", inputs)
    from .triton_step import FusedElementwise

    return packed.gru(inputs, initial, gate, candidate, counts, time_gate, elementwise=FusedElementwise())
