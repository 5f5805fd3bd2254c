"""The GRU decoder that every encoder shares, and the readout of its states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ..kernels.packing import Packing, following_rows, make_step_packing, previous_rows
from .attention import Attention, DecoderSelfAttention, KeyValueCache, read, readable
from .conditioned_gru import ConditionedGRU
from .dropout import Dropout
from .encoder_output import EncoderOutput, for_each_hypothesis, keep_sentences, select
from .gru import GRU
from .linear import Linear
from .time_skip import last_states
from .weights import multiply, projection


class Readout(nn.Module):
    """From a state, the previous word, and a context to the features from which the next word is scored.

    t̃ = U_o s + V_o E y + C_o c + b. With maxout, the features are the larger of every two neighbors, max(t̃_{2k−1},
    t̃_{2k}): Cho et al. (2014a), appendix; Bahdanau et al. (2015), A.2.2 (Goodfellow et al. 2013 for the unit). Without,
    they are t̃ itself, half as many products. A.2.2 prints U_o s_{i−1} where equation (4) has s_i; which state s is here
    is up to the decoder's order.

    Args:
        state_size: H.
        embed_size: E.
        context_size: D.
        output_size: O, how many features.
        maxout: whether there are twice as many sums as features.

    Attributes:
        width: how many sums there are.
    """

    def __init__(
        self, *, state_size: int, embed_size: int, context_size: int, output_size: int, maxout: bool = True
    ) -> None:
        super().__init__()
        self.maxout = maxout
        self.width = 2 * output_size if maxout else output_size
        self.state = Linear(state_size, self.width)
        self.previous_word = Linear(embed_size, self.width, bias=False)
        self.context = Linear(context_size, self.width, bias=False)
        for layer in (self.state, self.previous_word, self.context):
            nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(self.state.bias)

    def forward(self, states: Tensor, projected_words: Tensor, projected_context: Tensor) -> Tensor:
        """The features (N, O) of states (N, H).

        Words and contexts come through :attr:`previous_word` and :attr:`context`, (N, width): the caller projects once
        what several rows have in common.
        """
        # Under autocast the products are narrow; their sum has the states' dtype.
        sums = self.state(states).to(states.dtype) + projected_words + projected_context
        return _Maxout.apply(sums) if self.maxout else sums


class _Maxout(torch.autograd.Function):
    """The larger of two neighbors, and the first of equals, on a CPU in a fifth of the time of ``Tensor.max``."""

    @staticmethod
    def forward(ctx: Any, pairs: Tensor) -> Tensor:
        first, second = pairs.unflatten(-1, (-1, 2)).unbind(-1)
        ctx.save_for_backward(first >= second)
        return torch.maximum(first, second)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (is_first,) = ctx.saved_tensors
        first = grad * is_first
        second = grad - first
        if grad.dtype in (torch.float32, torch.float64):
            # A complex number is two neighbors in memory, written at once.
            return torch.view_as_real(torch.complex(first, second)).flatten(-2)
        return torch.stack([first, second], dim=-1).flatten(-2)


class DecoderState(NamedTuple):
    """What decoding carries from step to step, for N targets; in a search, N is a multiple of B, the number of sources.

    Attributes:
        hidden: (N, L, H) the state of each layer.
        keys: (B, …) what is computed from the source once for all steps, constant: (B, S', A) with attention.
        products: (B, S', P) the products of the source with every weight that a context is multiplied by, also
            constant, so that no step has to multiply. The first step computes them; before it, they are (B, 0, 0). S'
            is 1 without attention.
        earlier: (N, L, K − 1, H) the states before ``hidden``, oldest first; K is 1 without a skip in time. Of minimal
            GRUs with a token shift, (N, L, 2, H): the inputs' products that entered the last step.
        context: if the word comes first, (N, P) the products of what was read with ``hidden``, or, before the first
            step, what was read itself (N, D); otherwise (N, 0).
        past: what self-attention needs of the states that the readout has seen; None without self-attention or before
            the first state.
    """

    hidden: Tensor
    keys: Tensor
    products: Tensor
    earlier: Tensor
    context: Tensor
    past: KeyValueCache | None = None

    def histories(self) -> list[Tensor]:
        """Each layer's last states: (B, H), or with a skip in time (B, K, H), oldest first."""
        if not self.earlier.size(2):
            return list(self.hidden.unbind(1))
        return list(torch.cat([self.earlier, self.hidden.unsqueeze(2)], dim=2).unbind(1))

    def advance(self, hidden: Tensor) -> DecoderState:
        """The state after a step that produced ``hidden`` (B, L, H)."""
        if not self.earlier.size(2):
            return self._replace(hidden=hidden)
        known = torch.cat([self.earlier, self.hidden.unsqueeze(2)], dim=2)
        return self._replace(hidden=hidden, earlier=known[:, :, 1:])

    def for_each_hypothesis(self, beam: int) -> DecoderState:
        """The state of ``beam`` adjacent hypotheses per source, each of which continues from the same state."""
        hidden, earlier, context = (
            for_each_hypothesis(field, beam) for field in (self.hidden, self.earlier, self.context)
        )
        rows = for_each_hypothesis(torch.arange(self.hidden.size(0), device=hidden.device), beam)
        past = None if self.past is None else self.past.index_select(rows)
        return self._replace(hidden=hidden, earlier=earlier, context=context, past=past)

    def index_select(self, rows: Tensor) -> DecoderState:
        """The hypotheses ``rows``; what belongs to their source is copied only if others leave the batch."""
        beam = max(1, self.hidden.size(0) // max(1, self.keys.size(0)))
        sentences, _ = keep_sentences(rows, sentences=self.keys.size(0), beam=beam)
        hidden, earlier, context = (field.index_select(0, rows) for field in (self.hidden, self.earlier, self.context))
        past = None if self.past is None else self.past.index_select(rows)
        keys, products = (select(field, sentences) for field in (self.keys, self.products))
        return DecoderState(hidden, keys, products, earlier, context, past)


class GRUDecoder(nn.Module):
    """A GRU conditioned on the source, and the readout from which the next word is scored.

    The first states come from the summary, s_0 = tanh(V c + b), one for each layer. The first layer reads the source.
    Further layers read the layer below, so in training they run over the whole sentence at once.

    A step predicts y_i from a state, the previous word y_{i−1}, and a context c_i, in one of two orders:

    - word first: s_{i−1} = GRU(s_{i−2}, y_{i−1}, c_{i−1}); attention asks with s_{i−1}, which has read y_{i−1}, and
      finds c_i; y_i is scored from s_{i−1}, y_{i−1}, and c_i. y_1 is scored from s_0 and c_1 alone, without a begin
      symbol. The authors' released code does this; Nematus' conditional GRU and fairseq's lstm also ask with a state
      that has read y_{i−1}.
    - attention first: attention asks with s_{i−1}, which has read y_{i−2} and no later word, and finds c_i; s_i =
      GRU(s_{i−1}, y_{i−1}, c_i); y_i is scored from s_i, y_{i−1}, and c_i. y_0 is the begin symbol. The query follows
      Bahdanau et al. (2015), A.2.2, to the letter; the readout follows their equation (4), which has s_i where A.2.2
      prints U_o s_{i−1}.

    States are numbered as in the two sources: the one that has read y_{i−1} is s_{i−1} in the first and s_i in the
    second.

    Each layer carries its bare state s through time and reads the context with it. If a variant's output is something
    else, the next layer and the readout see that output. With a skip in time, what enters a step takes the place of
    s_{i−1} in the recurrence and in reading c_i. With a deep transition, word and context enter the first cell of a
    time step, and s is the last cell's state, which is also what asks for the next context. With self-attention, each
    state that the readout would see attends to itself and to all states that the readout would have seen before, and
    the readout sees the result.

    Args:
        first: the layer that reads the source.
        readout: the features of a position.
        summary_size: the size of the encoder's summary.
        num_layers: how many GRU layers, including the first; the others have its size and variant.
        dropout: probability of dropping a unit between layers.
        word_first: whether to use the first order.
        self_attention: over the top layer's outputs, or None.
    """

    def __init__(
        self,
        first: ConditionedGRU,
        readout: Readout,
        *,
        summary_size: int,
        num_layers: int = 1,
        dropout: float = 0.0,
        word_first: bool = True,
        self_attention: DecoderSelfAttention | None = None,
    ) -> None:
        super().__init__()
        size, variant = first.gru.hidden_size, first.gru.variant
        self.first = first
        self.upper = nn.ModuleList(GRU(size, size, variant=variant) for _ in range(num_layers - 1))
        self.dropout = Dropout(dropout, owner=type(self).__name__)
        self.readout = readout
        self.word_first = word_first
        self.self_attention = self_attention
        self.initial = projection(summary_size, num_layers * size)

    @property
    def attention(self) -> Attention | None:
        return self.first.attention

    def start(self, source: EncoderOutput) -> DecoderState:
        """Returns the state before the first step."""
        hidden = torch.tanh(self.initial(source.summary)).unflatten(1, (len(self.upper) + 1, -1))
        hidden = for_each_hypothesis(hidden, source.beam)
        skip = self.first.gru.time_skip
        earlier = hidden.unsqueeze(2).expand(-1, -1, skip.span - 1 if skip else 0, -1)
        keys = self.first.keys(source)
        products, context = keys.new_zeros(keys.size(0), 0, 0), hidden.new_zeros(hidden.size(0), 0)
        return DecoderState(hidden, keys, products, earlier, context)

    def forward(
        self, words: Tensor, packing: Packing, source: EncoderOutput
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Runs over sentences from their start.

        Args:
            words: (N, E) packed rows: the previous words, embedded; those at the first position are the begin symbol,
                which is not read if the word comes first.
            packing: which sentence and position each row is.
            source: the encoded batch, B sentences.

        Returns:
            Packed rows, too: the features (N, O), and the attention (N, S') or None; and the state from which
            :meth:`step` continues after each sentence's last word.
        """
        start = self.start(source)
        before = start._replace(hidden=packing.sort(start.hidden), earlier=packing.sort(start.earlier))
        initial = before.histories()
        inputs = following_rows(words, packing.batch_sizes) if self.word_first else words
        keys = for_each_hypothesis(start.keys, source.beam)
        states, contexts, attention = self.first(inputs, initial[0], packing, source.for_each_hypothesis(), keys)
        layers, top = self._stack(states, inputs, initial, packing)
        if self.word_first:
            layers = [previous_rows(layer, before.hidden[:, i], packing.batch_sizes) for i, layer in enumerate(layers)]
            top = previous_rows(top, self._top().output(before.hidden[:, -1], None), packing.batch_sizes)
            begin = packing.batch_sizes[0] if packing.batch_sizes else 0
            words = torch.cat([torch.zeros_like(words[:begin]), words[begin:]])
        after = self._after(layers, initial, packing, start)
        if self.word_first and attention is not None:
            none = contexts.values.new_zeros(packing.sorted_indices.numel(), contexts.values.size(1))
            after = after._replace(context=packing.last(contexts.values, none))
        if self.self_attention is not None:
            top, past = self.self_attention(top, packing)
            after = after._replace(past=past)
        previous, context = self.readout.previous_word(words), contexts.through(self.readout.context)
        return self.readout(top, previous, context), attention, after

    def step(
        self, embedded: Tensor, source: EncoderOutput, state: DecoderState, word: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Continues by one word.

        Args:
            embedded: (N, E) the previous words, none of which is the begin symbol.
            source: the encoded batch.
            state: as returned by :meth:`forward` or an earlier step.
            word: (N,) which of the embedded words each target continues with, if equal words are embedded only once;
                None: one each.

        Returns:
            The features (N, O), the attention (N, S') or None, and the next state.
        """
        if not state.products.size(1):
            state = self.multiply_source(state, source)
        inputs, previous = self.first.gru.project(embedded), self.readout.previous_word(embedded)
        if word is not None:
            embedded, inputs, previous = (rows.index_select(0, word) for rows in (embedded, inputs, previous))
        packing = make_step_packing(embedded.size(0), embedded.device)
        histories = state.histories()
        read_before = self.word_first and self.attention is not None
        if read_before:
            context = state.context
        else:
            context, attention = self._read(histories[0], source, state)
        width = inputs.size(1)
        states = self.first.gru.run(inputs + context[:, :width], histories[0], packing.batch_sizes)
        layers, top = self._stack(states, embedded, histories, packing)
        following = state.advance(torch.stack(layers, dim=1))
        if read_before:
            context, attention = self._read(following.histories()[0], source, state)
            following = following._replace(context=context)
        if self.self_attention is not None:
            top, past = self.self_attention.step(top, state.past)
            following = following._replace(past=past)
        return self.readout(top, previous, context[:, width:]), attention, following

    def multiply_source(self, state: DecoderState, source: EncoderOutput) -> DecoderState:
        """The state with the products of the source and of a context read before."""
        read_out = self.readout.context(readable(self.attention, source))
        products = torch.cat([self.first.products(source, state.keys), read_out], dim=2)
        if not state.context.size(1):
            return state._replace(products=products)
        context = [multiply(state.context, self.first.context_weight), self.readout.context(state.context)]
        return state._replace(products=products, context=torch.cat(context, dim=1))

    def _read(self, history: Tensor, source: EncoderOutput, state: DecoderState) -> tuple[Tensor, Tensor | None]:
        """The context's products (N, P) and the attention (N, S') or None for a step that these last states enter."""
        return read(self.attention, self.first.gru.previous_state(history), source, state.keys, state.products)

    def _top(self) -> GRU:
        return cast(GRU, self.upper[-1]) if len(self.upper) else self.first.gru

    def _stack(
        self, states: Tensor, rows: Tensor, initial: list[Tensor], packing: Packing
    ) -> tuple[list[Tensor], Tensor]:
        """Each layer's states (N, H) after each row, given the first layer's, and the top layer's output (N, H)."""
        layers, output = [states], self.first.gru.output(states, rows)
        for layer, history in zip(cast("Iterable[GRU]", self.upper), initial[1:]):
            inputs = self.dropout(output)
            layers.append(layer(inputs, history, packing.batch_sizes))
            output = layer.output(layers[-1], inputs)
        return layers, output

    def _after(
        self, layers: list[Tensor], initial: list[Tensor], packing: Packing, start: DecoderState
    ) -> DecoderState:
        """The state after each sentence's last row; the layers' states (N, H) before it are ``initial``."""
        if self.first.gru.time_skip is None:
            ends = [packing.last(layer, before) for layer, before in zip(layers, initial)]
            return start._replace(hidden=torch.stack(ends, dim=1))
        histories = torch.stack(
            [packing.unsort(last_states(layer, before, packing.batch_sizes)) for layer, before in zip(layers, initial)],
            dim=1,
        )
        return start._replace(hidden=histories[:, :, -1], earlier=histories[:, :, :-1])
