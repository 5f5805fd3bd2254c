"""The GRU decoder that every encoder shares."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..kernels.packing import Packing, following_rows, make_step_packing, previous_rows
from .conditioned_gru import AttentiveGRU, Contexts, FixedContextGRU
from .encoder_output import EncoderOutput
from .gru import GRU
from .readout import MaxoutReadout


class DecoderState(NamedTuple):
    """All that decoding carries from step to step.

    Attributes:
        hidden: (B, L, H) the state of each layer.
        keys: (B, S', A) the projected annotations, constant; (B, 0, 0) without attention.
    """

    hidden: Tensor
    keys: Tensor

    def index_select(self, rows: Tensor) -> DecoderState:
        """The hypotheses ``rows``, every field alike."""
        return DecoderState(*(field.index_select(0, rows) for field in self))


class GRUDecoder(nn.Module):
    """A GRU conditioned on the source, and the readout that the next word is scored from.

    The summary makes the first states, s_0 = tanh(V c + b), one for each layer. The first layer reads the source;
    further layers read the layer below, so in training they run over the whole sentence at once.

    At step i, with y_{i−1} the previous word, one of two orders:

    - update first (Bahdanau et al. 2015, A.2.2): c_i is read with s_{i−1}; s_i = GRU(s_{i−1}, y_{i−1}, c_i); the word
      is scored from s_i, y_{i−1} and c_i. The first previous word is the begin symbol.
    - score first (the authors' released code): c_i is read with s_{i−1}; the word y_i is scored from s_{i−1}, y_{i−1}
      and c_i; then s_i = GRU(s_{i−1}, y_i, c_i). The first word is scored from s_0 with no previous word at all, and
      every readout sees a context that was read with the state it sees.

    Args:
        first: the layer that reads the source.
        readout: features of a position.
        summary_size: of the encoder's summary.
        num_layers: how many GRU layers, the first included.
        dropout: probability of dropping a unit between layers.
        score_first: the second order.
        gate_bias: of the further layers, as in :class:`~user_dir.layers.gru.GRU`.
    """

    def __init__(
        self,
        first: FixedContextGRU | AttentiveGRU,
        readout: MaxoutReadout,
        *,
        summary_size: int,
        num_layers: int = 1,
        dropout: float = 0.0,
        score_first: bool = False,
        gate_bias: bool = True,
    ) -> None:
        super().__init__()
        size = first.gru.hidden_size
        self.first = first
        self.upper = nn.ModuleList(GRU(size, size, gate_bias=gate_bias) for _ in range(num_layers - 1))
        self.dropout = nn.Dropout(dropout)
        self.readout = readout
        self.score_first = score_first
        self.initial = nn.Linear(summary_size, num_layers * size)
        nn.init.xavier_uniform_(self.initial.weight)
        nn.init.zeros_(self.initial.bias)

    def start(self, source: EncoderOutput) -> DecoderState:
        """The state before the first step."""
        hidden = torch.tanh(self.initial(source.summary)).unflatten(1, (len(self.upper) + 1, -1))
        return DecoderState(hidden, self.first.keys(source))

    def forward(
        self, embedded: Tensor, packing: Packing, source: EncoderOutput
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Runs over sentences from their start.

        Args:
            embedded: (B, T, E) the previous words, embedded; the first column is the begin symbol.
            packing: where they stand.
            source: the encoded batch.

        Returns:
            The features (B, T, O), zeros on padding; the attention (B, T, S') or None; the state from which
            :meth:`step` goes on after each sentence's last word.
        """
        words = packing.pack(embedded)
        start = self.start(source)
        initial = packing.sort(start.hidden)
        inputs = following_rows(words, packing.counts) if self.score_first else words
        layers, contexts, attention = self._update(inputs, initial, packing, source, start.keys)
        if self.score_first:
            layers = [previous_rows(layer, initial[:, i], packing.counts) for i, layer in enumerate(layers)]
            begin = packing.counts[0] if packing.counts else 0
            words = torch.cat([torch.zeros_like(words[:begin]), words[begin:]])
        features = packing.unpack(self.readout(layers[-1], words, contexts.through(self.readout.context)))
        hidden = torch.stack([packing.last(layer, initial[:, i]) for i, layer in enumerate(layers)], dim=1)
        if attention is not None:
            attention = packing.unpack(attention)
        return features, attention, DecoderState(hidden, start.keys)

    def step(
        self, embedded: Tensor, source: EncoderOutput, state: DecoderState
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Goes on by one word.

        Args:
            embedded: (B, E) the previous word, which is not the begin symbol.
            source: the encoded batch.
            state: as :meth:`forward` or an earlier step returned it.

        Returns:
            The features (B, O), the attention (B, S') or None, and the next state.
        """
        packing = make_step_packing(embedded.size(0), embedded.device)
        layers, contexts, attention = self._update(embedded, state.hidden, packing, source, state.keys)
        if self.score_first:
            context, attention = self.first.read(layers[0], source, state.keys)
            contexts = Contexts(context)
        features = self.readout(layers[-1], embedded, contexts.through(self.readout.context))
        return features, attention, state._replace(hidden=torch.stack(layers, dim=1))

    def _update(
        self, rows: Tensor, initial: Tensor, packing: Packing, source: EncoderOutput, keys: Tensor
    ) -> tuple[list[Tensor], Contexts, Tensor | None]:
        """Each layer's states (N, H) after each row, and the contexts and the attention (N, S') that made them."""
        states, contexts, attention = self.first(rows, initial[:, 0], packing, source, keys)
        layers = [states]
        for index, layer in enumerate(self.upper, start=1):
            layers.append(layer(self.dropout(layers[-1]), initial[:, index], packing.counts))
        return layers, contexts, attention
