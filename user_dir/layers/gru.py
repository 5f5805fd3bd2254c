"""The gated recurrent unit of Cho et al. (2014): one layer, and the encoder that stacks it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..kernels.gru import gru
from ..kernels.packing import make_packing
from .encoder_output import EncoderOutput
from .initialization import orthogonal_blocks_, xavier_blocks_

SUMMARIES = ("both", "forward", "backward")


class GRU(nn.Module):
    """One layer in one direction over packed rows; see :func:`user_dir.kernels.gru.gru` for the equations.

    Args:
        input_size: E.
        hidden_size: H.
        gate_bias: whether the gates have biases; the authors' code has one in the candidate alone.
        backend: the kernel's implementation.

    Attributes:
        input_weight: (3H, E), ordered [reset, update, candidate].
        gate_weight: (2H, H), ordered [reset, update].
        candidate_weight: (H, H).
        bias: (3H,), ordered [reset, update, candidate]; (H,) of the candidate without ``gate_bias``.
    """

    def __init__(self, input_size: int, hidden_size: int, *, gate_bias: bool = True, backend: str = "packed") -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.backend = backend
        self.input_weight = nn.Parameter(torch.empty(3 * hidden_size, input_size))
        self.gate_weight = nn.Parameter(torch.empty(2 * hidden_size, hidden_size))
        self.candidate_weight = nn.Parameter(torch.empty(hidden_size, hidden_size))
        self.bias = nn.Parameter(torch.zeros((3 if gate_bias else 1) * hidden_size))
        xavier_blocks_(self.input_weight, hidden_size)
        orthogonal_blocks_(self.gate_weight)
        orthogonal_blocks_(self.candidate_weight)

    def project(self, rows: Tensor) -> Tensor:
        """The products of inputs (N, E) with their weights, biases included: (N, 3H)."""
        bias = F.pad(self.bias, (3 * self.hidden_size - self.bias.numel(), 0))
        return F.linear(rows, self.input_weight, bias)

    def forward(self, rows: Tensor, initial: Tensor, counts: Sequence[int], *, context: Tensor | None = None) -> Tensor:
        """Runs the layer.

        Args:
            rows: (N, E) packed inputs.
            initial: (B, H) first states, in packed order.
            counts: sentences running at each position.
            context: (N, 3H) what else enters the gates and the candidate, if anything.

        Returns:
            (N, H) the states.
        """
        inputs = self.project(rows)
        if context is not None:
            inputs = inputs + context
        return gru(inputs, initial, self.gate_weight, self.candidate_weight, counts=counts, backend=self.backend)


class GRUEncoder(nn.Module):
    """A stack of GRU layers, forward only or in both directions.

    The annotation of a position is the top layer's state there, in both directions if there are two (Bahdanau et al.
    2015, A.2.1). The summary is the forward layer's last state and, if there is one, the backward layer's state at the
    first position, or the one of the two that is asked for.

    Args:
        input_size: E.
        hidden_size: H of one direction.
        num_layers: how many layers.
        bidirectional: whether each layer also reads backwards; the next layer then reads 2H.
        summary: ``both``, ``forward`` (RNNenc) or ``backward`` (RNNsearch's s_0: Bahdanau et al. 2015, A.2.2).
        dropout: probability of dropping a unit between layers.
        gate_bias: as in :class:`GRU`.
        backend: the kernel's implementation.

    Raises:
        ValueError: if the summary is unknown, or is ``backward`` and there is no backward layer.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
        summary: str = "both",
        dropout: float = 0.0,
        gate_bias: bool = True,
        backend: str = "packed",
    ) -> None:
        super().__init__()
        directions = 2 if bidirectional else 1
        if summary not in SUMMARIES:
            raise ValueError(f"there is no encoder summary {summary!r}; there are: {', '.join(SUMMARIES)}")
        if summary == "backward" and not bidirectional:
            raise ValueError("--encoder-summary backward needs --encoder-bidirectional")
        self.summary = summary
        self.annotation_size = directions * hidden_size
        self.summary_size = self.annotation_size if summary == "both" else hidden_size
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                GRU(self.annotation_size if layer else input_size, hidden_size, gate_bias=gate_bias, backend=backend)
                for _ in range(directions)
            )
            for layer in range(num_layers)
        )

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        packing = make_packing(padding_mask)
        rows = packing.pack(embedded)
        for index, directions in enumerate(self.layers):
            if index:
                rows = self.dropout(rows)
            initial = rows.new_zeros(embedded.size(0), directions[0].hidden_size)
            states = [directions[0](rows, initial, packing.counts)]
            if len(directions) == 2:
                states.append(directions[1](rows[packing.reverse], initial, packing.counts))
            rows = torch.cat([states[0], *(state[packing.reverse] for state in states[1:])], dim=1)
        chosen = {"both": states, "forward": states[:1], "backward": states[1:]}[self.summary]
        summary = torch.cat([packing.last(state, initial) for state in chosen], dim=1)
        return EncoderOutput(packing.unpack(rows), padding_mask, summary)
