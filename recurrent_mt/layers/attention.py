"""The three ways of comparing a decoder state with an annotation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

ATTENTIONS = ("additive", "dot", "general")


class Attention(nn.Module):
    """The parameters of an attention; the attending itself is in :mod:`recurrent_mt.kernels.attentive_gru`.

    - ``additive``: v_a · tanh(W_a s + U_a h), Bahdanau et al. (2015), A.1.2, without biases;
    - ``dot``: s · h, Luong et al. (2015), eq. (8);
    - ``general``: s · (W h), likewise.

    Args:
        kind: one of :data:`ATTENTIONS`.
        state_size: H of the decoder.
        annotation_size: D of the encoder.

    Raises:
        ValueError: if the kind is unknown, or if it is ``dot`` and the two sizes differ.
    """

    def __init__(self, kind: str, *, state_size: int, annotation_size: int) -> None:
        super().__init__()
        if kind not in ATTENTIONS:
            raise ValueError(f"there is no attention {kind!r}; there are: {', '.join(ATTENTIONS)}")
        if kind == "dot" and state_size != annotation_size:
            raise ValueError(
                f"dot attention compares decoder states of {state_size} units with annotations of {annotation_size}: "
                "make --decoder-hidden-size equal to the encoder's output size, or use --decoder-attention general"
            )
        self.key = None if kind == "dot" else nn.Linear(annotation_size, state_size, bias=False)
        self.query_weight = self.score = None
        if self.key is not None:
            nn.init.xavier_uniform_(self.key.weight)
        if kind == "additive":
            self.query_weight = nn.Parameter(torch.empty(state_size, state_size))
            self.score = nn.Parameter(torch.empty(state_size))
            nn.init.xavier_uniform_(self.query_weight)
            nn.init.uniform_(self.score, -0.1, 0.1)

    def project(self, annotations: Tensor) -> Tensor:
        """The keys (B, S', A) of annotations (B, S', D): computed once per sentence, not once per step."""
        return annotations if self.key is None else self.key(annotations)
