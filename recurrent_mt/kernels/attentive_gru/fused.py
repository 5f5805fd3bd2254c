"""The attentive GRU of ``packed``, with the attention and everything between a step's matrix products in Triton."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..backend import check_triton
from . import packed
from .memory import AttentiveGRUWeights, Memory


def attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
    time_gate: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` with Triton kernels."""
    check_triton("attentive_gru", inputs)
    from ..gru.triton_step import FusedElementwise
    from .triton_attention import FusedAttention

    parts = packed.Parts(FusedElementwise(), FusedAttention())
    return packed.attentive_gru(inputs, initial, memory, weights, counts, time_gate, parts=parts)


def attend(state: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attend` with Triton kernels."""
    check_triton("attend", state)
    from .triton_attention import FusedAttention

    return FusedAttention().attend(state, memory, weights)
