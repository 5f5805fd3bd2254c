"""A decoder of minimal GRUs: nothing in it but attention and sums goes from one word to the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from ..kernels.attention import Memory, attend_sentences
from ..kernels.packing import Packing
from .attention import Attention, DecoderSelfAttention, read, readable
from .decoder import DecoderState, Readout
from .dropout import Dropout
from .encoder_output import EncoderOutput, for_each_hypothesis
from .min_gru import MinGRU
from .weights import multiply, projection


class MinGRUDecoder(nn.Module):
    """Two minimal GRUs with attention between them, and the readout from which the next word is scored.

    A step predicts y_i from the previous word y_{i−1}::

        s_i = MinGRU(E y_{i−1}, s_{i−1})         what has been written
        c_i = attention of LN(s_i)               what of the source belongs to it
        u_i = MinGRU(c_i, u_{i−1})               what has been translated
        x_i = LN(s_i) + LN(u_i)

    and y_i is scored from x_i, y_{i−1}, and c_i; y_0 is the begin symbol. With a second hop (Sukhbaatar et al. 2015,
    "End-To-End Memory Networks", section 2.2), it is scored from x_i, y_{i−1}, and the attention of x_i, which, unlike
    s_i, knows what has been translated. Each further layer adds LN(MinGRU(x)) to x.
    Gates and candidates read no state (Feng et al. 2024), so in training, all products of all positions are computed
    at once, and only the sums of :mod:`recurrent_mt.kernels.min_gru` go along a sentence. With a token shift, each
    recurrence also reads what entered it one position before. The recurrence above the attention knows which source
    words have been read; with the one below alone, nothing would.

    Kin: SSRU (Kim et al. 2019) in a Transformer's decoder, and SR-NMT (Di Gangi & Federico 2018), simple units with
    attention in every layer. Nematus' conditional GRU (Sennrich et al. 2017) also has a unit on either side of the
    attention.

    Without attention, c_i is the encoder's summary.

    Args:
        below: the recurrence over words.
        attention: how LN(s_i) asks; None to read the summary.
        above: the recurrence over contexts.
        readout: the features of a position.
        summary_size: the size of the encoder's summary.
        num_layers: 1 for the two recurrences, and one more for each further layer, which has their variant.
        dropout: probability of dropping a unit of what a further layer reads.
        self_attention: over x, or None.
    """

    word_first = False

    def __init__(
        self,
        below: MinGRU,
        attention: Attention | None,
        above: MinGRU,
        readout: Readout,
        *,
        summary_size: int,
        num_layers: int = 1,
        dropout: float = 0.0,
        self_attention: DecoderSelfAttention | None = None,
    ) -> None:
        super().__init__()
        self.size = size = below.hidden_size
        self.below = below
        self.attention = attention
        self.above = above
        self.upper = nn.ModuleList(MinGRU(size, size, variant=below.variant) for _ in range(num_layers - 1))
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.readout = readout
        self.self_attention = self_attention
        self.initial = projection(summary_size, (num_layers + 1) * size)

    @property
    def second_hop(self) -> bool:
        return self.attention is not None and self.attention.hops == 2

    def start(self, source: EncoderOutput) -> DecoderState:
        """Returns the state before the first step."""
        hidden = torch.tanh(self.initial(source.summary)).unflatten(1, (-1, self.size))
        # Under autocast the products are narrow; states are not.
        hidden = for_each_hypothesis(hidden.to(self.below.bias.dtype), source.beam)
        rows = readable(self.attention, source)
        keys = rows if self.attention is None else self.attention.project(rows)
        none = hidden.new_zeros(hidden.size(0), 0)
        entered = hidden.new_zeros(*hidden.shape[:2], 0 if self.below.shift is None else 2, self.size)
        return DecoderState(hidden, keys, keys.new_zeros(keys.size(0), 0, 0), entered, none)

    def forward(
        self, words: Tensor, packing: Packing, source: EncoderOutput
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Runs over sentences from their start.

        Args:
            words: (N, E) packed rows: the previous words, embedded, from the begin symbol on.
            packing: which sentence and position each row is.
            source: the encoded batch, B sentences.

        Returns:
            Packed rows, too: the features (N, O), and the attention (N, S') or None; and the state from which
            :meth:`step` continues after each sentence's last word.
        """
        start = self.start(source)
        initial = packing.sort(start.hidden).unbind(1)
        entered: list[Tensor] = []
        layers: list[Tensor] = []

        def run(layer: MinGRU, rows: Tensor) -> Tensor:
            if layer.shift is not None:
                entered.append(self._last_products(layer, rows, packing))
            layers.append(layer(rows, initial[len(layers)], packing.batch_sizes))
            return layer.output(layers[-1], rows)

        top = run(self.below, words)
        contexts, attention = self._contexts(top, packing, source, start.keys)
        top = top + run(self.above, contexts)
        if self.second_hop:
            contexts, attention = self._contexts(top, packing, source, start.keys)
        for layer in cast("Iterable[MinGRU]", self.upper):
            top = top + run(layer, self.dropout(top))
        ends = [packing.last(states, before) for states, before in zip(layers, initial)]
        after = start._replace(hidden=torch.stack(ends, dim=1))
        if entered:
            after = after._replace(earlier=torch.stack(entered, dim=1).unflatten(2, (2, self.size)))
        if self.self_attention is not None:
            top, past = self.self_attention(top, packing)
            after = after._replace(past=past)
        previous, context = self.readout.previous_word(words), self.readout.context(contexts)
        return self.readout(top, previous, context), attention, after

    def step(
        self, embedded: Tensor, source: EncoderOutput, state: DecoderState, word: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Continues by one word; see :meth:`recurrent_mt.layers.decoder.GRUDecoder.step`."""
        if not state.products.size(1):
            state = self.multiply_source(state, source)
        inputs, previous = self.below.project(embedded), self.readout.previous_word(embedded)
        if word is not None:
            embedded, inputs, previous = (rows.index_select(0, word) for rows in (embedded, inputs, previous))
        entered: list[Tensor] = []
        layers: list[Tensor] = []

        def run(layer: MinGRU, inputs: Tensor, rows: Tensor | None) -> Tensor:
            number = len(layers)
            entered.append(inputs)
            layers.append(layer.step(inputs, state.hidden[:, number], state.earlier[:, number]))
            return layer.output(layers[-1], rows)

        top = run(self.below, inputs, embedded)
        context, attention = read(self.attention, top, source, state.keys, state.products)
        top = top + run(self.above, context[:, : 2 * self.size] + self.above.bias, None)
        if self.second_hop:
            context, attention = read(self.attention, top, source, state.keys, state.products)
        for layer in cast("Iterable[MinGRU]", self.upper):
            rows = self.dropout(top)
            top = top + run(layer, layer.project(rows), rows)
        after = state._replace(hidden=torch.stack(layers, dim=1))
        if state.earlier.size(2):
            after = after._replace(earlier=torch.stack(entered, dim=1).unflatten(2, (2, self.size)))
        if self.self_attention is not None:
            top, past = self.self_attention.step(top, state.past)
            after = after._replace(past=past)
        return self.readout(top, previous, context[:, 2 * self.size :]), attention, after

    def multiply_source(self, state: DecoderState, source: EncoderOutput) -> DecoderState:
        """The state with the products of the source: those for :attr:`above`, then those for the readout."""
        rows = readable(self.attention, source)
        products = [multiply(rows, self.above.input_weight), self.readout.context(rows)]
        return state._replace(products=torch.cat(products, dim=2))

    def _last_products(self, layer: MinGRU, rows: Tensor, packing: Packing) -> Tensor:
        """The products (B, 2H) of each sentence's last row with a layer's weights, zeros if it has none."""
        none = rows.new_zeros(packing.final.numel(), rows.size(1))
        return layer.project(packing.last(rows, none)).masked_fill(packing.unsort(packing.final < 0).unsqueeze(1), 0)

    def _contexts(
        self, queries: Tensor, packing: Packing, source: EncoderOutput, keys: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The contexts (N, D) of packed queries (N, H), and their attention (N, S') or None."""
        source, keys = source.for_each_hypothesis(), for_each_hypothesis(keys, source.beam)
        if self.attention is None:
            return packing.sort(source.summary).index_select(0, packing.sentence), None
        memory = Memory(keys, source.annotations, source.padding_mask)
        return attend_sentences(queries, packing, memory, self.attention.weights())
