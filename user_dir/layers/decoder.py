"""The GRU decoder that every encoder shares."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..kernels.attentive_gru import AttentiveGRUWeights, Memory, attentive_gru
from ..kernels.packing import Packing
from .attention import Attention
from .encoder_output import EncoderOutput
from .gru import GRU
from .initialization import xavier_blocks_
from .readout import MaxoutReadout


class DecoderState(NamedTuple):
    """All that decoding carries from step to step.

    Attributes:
        hidden: (B, L, H) the state of each layer.
        keys: (B, S, A) the projected annotations, constant; (B, 0, 0) without attention.
    """

    hidden: Tensor
    keys: Tensor

    def index_select(self, rows: Tensor) -> DecoderState:
        """The hypotheses ``rows``, every field alike."""
        return DecoderState(*(field.index_select(0, rows) for field in self))


class GRUDecoder(nn.Module):
    """A GRU conditioned on the source, by one fixed vector or by attention.

    Without attention c is the encoder's summary; it enters the first layer's candidate and both gates, and the
    readout, at every step (Cho et al. 2014a, section 2.2). With attention c_i is read from the annotations with the
    first layer's previous state and enters the same places (Bahdanau et al. 2015, A.2.2). The summary makes the first
    states either way: s_0 = tanh(V c + b), one for each layer. Further layers read the layer below, so they run over
    the whole sentence at once in training.

    Args:
        embed_size: E.
        hidden_size: H.
        output_size: features a position.
        annotation_size: D of the encoder's annotations.
        summary_size: of the encoder's summary.
        attention: None or a kind of :class:`~user_dir.layers.attention.Attention`.
        num_layers: how many GRU layers.
        dropout: probability of dropping a unit between layers.
    """

    def __init__(
        self,
        embed_size: int,
        hidden_size: int,
        *,
        output_size: int,
        annotation_size: int,
        summary_size: int,
        attention: str | None = None,
        num_layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        context_size = annotation_size if attention else summary_size
        self.attention = (
            Attention(attention, state_size=hidden_size, annotation_size=annotation_size) if attention else None
        )
        self.initial = nn.Linear(summary_size, num_layers * hidden_size)
        nn.init.xavier_uniform_(self.initial.weight)
        nn.init.zeros_(self.initial.bias)
        self.first = GRU(embed_size, hidden_size)
        self.context_weight = nn.Parameter(xavier_blocks_(torch.empty(3 * hidden_size, context_size), hidden_size))
        self.upper = nn.ModuleList(GRU(hidden_size, hidden_size) for _ in range(num_layers - 1))
        self.dropout = nn.Dropout(dropout)
        self.readout = MaxoutReadout(
            state_size=hidden_size, embed_size=embed_size, context_size=context_size, output_size=output_size
        )

    def start(self, source: EncoderOutput) -> DecoderState:
        """The state before the first step."""
        hidden = torch.tanh(self.initial(source.summary)).unflatten(1, (-1, self.first.hidden_size))
        if self.attention is None:
            return DecoderState(hidden, source.summary.new_zeros(hidden.size(0), 0, 0))
        return DecoderState(hidden, self.attention.project(source.annotations))

    def forward(
        self, embedded: Tensor, packing: Packing, source: EncoderOutput, state: DecoderState
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Runs over the previous words.

        Args:
            embedded: (B, T, E) the previous words, embedded.
            packing: where they stand.
            source: the encoded batch.
            state: as :meth:`start` or an earlier call returned it.

        Returns:
            The features (B, T, output_size), zeros on padding; the attention (B, T, S) or None; the state after each
            sentence's last word.
        """
        rows = packing.pack(embedded)
        initial = packing.sort(state.hidden)  # (B, L, H), packed order
        if self.attention is None:
            states, readout_context = self._run_fixed(rows, initial[:, 0], packing, source)
            attention = None
        else:
            states, readout_context, attention = self._run_attentive(rows, initial[:, 0], packing, source, state.keys)
        hidden = [packing.last(states, initial[:, 0])]
        for index, layer in enumerate(self.upper, start=1):
            states = layer(self.dropout(states), initial[:, index], packing.counts)
            hidden.append(packing.last(states, initial[:, index]))
        features = packing.unpack(self.readout(states, rows, readout_context))
        return features, attention, DecoderState(torch.stack(hidden, dim=1), state.keys)

    def _run_fixed(
        self, rows: Tensor, initial: Tensor, packing: Packing, source: EncoderOutput
    ) -> tuple[Tensor, Tensor]:
        """States (N, H) and projected readout contexts (N, 2O); c's products are made once a sentence."""
        summary = packing.sort(source.summary)
        context = F.linear(summary, self.context_weight).index_select(0, packing.sentence)
        states = self.first(rows, initial, packing.counts, context=context)
        return states, self.readout.context(summary).index_select(0, packing.sentence)

    def _run_attentive(
        self, rows: Tensor, initial: Tensor, packing: Packing, source: EncoderOutput, keys: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """States (N, H), projected readout contexts (N, 2O) and attention (B, T, S)."""
        memory = Memory(*(packing.sort(tensor) for tensor in (keys, source.annotations, source.padding_mask)))
        weights = AttentiveGRUWeights(
            gate=self.first.gate_weight,
            candidate=self.first.candidate_weight,
            context=self.context_weight,
            query=self.attention.query_weight,
            score=self.attention.score,
        )
        inputs = F.linear(rows, self.first.input_weight, self.first.bias)
        states, contexts, attention = attentive_gru(
            inputs, initial, memory, weights, counts=packing.counts, backend=self.first.backend
        )
        return states, self.readout.context(contexts), packing.unpack(attention)
