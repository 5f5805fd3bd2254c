"""The gated recursive convolutional network of Cho et al. (2014b)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..kernels.grconv import GRConvWeights, grconv
from ..kernels.packing import make_packing
from .encoder_output import EncoderOutput
from .initialization import orthogonal_blocks_


class GRConvEncoder(nn.Module):
    """Merges neighbouring words into phrases until one vector is left: the summary. The annotations are the leaves.

    Equations: :func:`user_dir.kernels.grconv.grconv`; leaf j is U x_j + b (Cho et al. 2014b, section 2.2).

    Args:
        input_size: E.
        hidden_size: H.
        activation: φ of the candidate, ``tanh`` or ``relu``.
        backend: the kernel's implementation.
    """

    def __init__(self, input_size: int, hidden_size: int, *, activation: str = "tanh", backend: str = "packed") -> None:
        super().__init__()
        self.annotation_size = self.summary_size = hidden_size
        self.activation = activation
        self.backend = backend
        self.leaves = nn.Linear(input_size, hidden_size)
        self.left = nn.Parameter(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)))
        self.right = nn.Parameter(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)))
        self.bias = nn.Parameter(torch.zeros(hidden_size))
        self.gate_left = nn.Parameter(torch.empty(3, hidden_size))
        self.gate_right = nn.Parameter(torch.empty(3, hidden_size))
        self.gate_bias = nn.Parameter(torch.zeros(3))
        nn.init.xavier_uniform_(self.leaves.weight)
        nn.init.zeros_(self.leaves.bias)
        nn.init.normal_(self.gate_left, std=0.01)
        nn.init.normal_(self.gate_right, std=0.01)

    def weights(self) -> GRConvWeights:
        """The weights as the kernel takes them."""
        return GRConvWeights(self.left, self.right, self.bias, self.gate_left, self.gate_right, self.gate_bias)

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        packing = make_packing(padding_mask)
        leaves = self.leaves(packing.pack(embedded))
        roots, _ = grconv(
            leaves, self.weights(), counts=packing.counts, activation=self.activation, backend=self.backend
        )
        empty = leaves.new_zeros(embedded.size(0) - roots.size(0), roots.size(1))
        summary = packing.unsort(torch.cat([roots, empty]))
        return EncoderOutput(packing.unpack(leaves), padding_mask, summary)
