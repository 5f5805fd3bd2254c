"""A model on one page: embed, encode, attend and step, read out, score. ``encoder_decoder.py`` builds it from options.

A source of B sentences goes through :meth:`Encoder.forward`, the words of its translation through
:meth:`Decoder.forward`, all at once in training and word for word in a search. What turns inside is in
:mod:`recurrent_mt.layers`: an encoder, and :class:`recurrent_mt.layers.decoder.GRUDecoder` or
:class:`recurrent_mt.layers.min_gru_decoder.MinGRUDecoder`.
"""

from __future__ import annotations

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder, FairseqIncrementalDecoder
from torch import Tensor, nn

from recurrent_mt.kernels.cross_entropy import cross_entropy
from recurrent_mt.kernels.packing import Packing, make_packing, padding_at_ends
from recurrent_mt.layers.attention import EncoderSelfAttention
from recurrent_mt.layers.decoder import DecoderState, GRUDecoder
from recurrent_mt.layers.dropout import Dropout, EmbeddingDropout
from recurrent_mt.layers.encoder_output import EncoderOutput, for_each_hypothesis
from recurrent_mt.layers.grconv import DilatedGRConvEncoder
from recurrent_mt.layers.linear import output_layers
from recurrent_mt.layers.min_gru_decoder import MinGRUDecoder

from .autocast import Autocast

IncrementalState = dict[str, dict[str, Any]]


class Encoder(FairseqEncoder):
    """Embeds the source and encodes it.

    Args:
        dictionary: the source dictionary.
        embedding: the source embedding.
        layer: a module (B, S, E), (B, S) → :class:`~recurrent_mt.layers.encoder_output.EncoderOutput`, which gives the
            sizes of its output as ``annotation_size`` and ``summary_size``.
        dropouts: the probabilities of dropping a unit of embeddings, annotations, and summary, and a whole embedding.
        max_positions: length of the longest source.
        norm: of the layer's annotations and summary, or None.
        self_attention: applied to the layer's output, or None.
        autocast: the dtype of matrix products.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        embedding: nn.Embedding,
        *,
        layer: nn.Module,
        dropouts: tuple[float, float],
        max_positions: int,
        norm: nn.LayerNorm | None = None,
        self_attention: EncoderSelfAttention | None = None,
        autocast: Autocast,
    ) -> None:
        super().__init__(dictionary)
        self.autocast = autocast
        self.embed_tokens = embedding
        self.layer = layer
        self.norm = norm
        self.self_attention = self_attention
        units, words = dropouts
        self.dropout_in = EmbeddingDropout(units, words=words, owner=type(self).__name__)
        self.dropout_out = Dropout(units, owner=type(self).__name__)
        self._max_positions = max_positions

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None, **kwargs: Any) -> EncoderOutput:
        """Encodes a batch.

        Args:
            src_tokens: (B, S), padded on either side, in any order of lengths. A literal ``<pad>`` between words is
                read like a word whose embedding is zero, as in fairseq's lstm.
            src_lengths: not used; fairseq passes it.
            **kwargs: other things that tasks pass; ignored.
        """
        with self.autocast.on(self.embed_tokens.weight):
            # 1. Embed the words.
            embedded = self.dropout_in(self.embed_tokens(src_tokens))
            # 2. Encode them: annotations for attention, and a summary of the sentence.
            output = self.layer(embedded, padding_at_ends(src_tokens, self.dictionary.pad()))
            if self.norm is not None:
                output = output.normalized(self.norm)
            if self.self_attention is not None:
                output = self.self_attention(output)
            return output._replace(
                annotations=self.dropout_out(output.annotations), summary=self.dropout_out(output.summary)
            )

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Finds the norm where older checkpoints of a dilated grConv have it: in the layer. Called by fairseq."""
        if isinstance(self.layer, DilatedGRConvEncoder):
            for key in [key for key in state_dict if key.startswith(f"{name}.layer.norm.")]:
                state_dict[key.replace(".layer.norm.", ".norm.")] = state_dict.pop(key)

    def reorder_encoder_out(self, encoder_out: EncoderOutput, new_order: Tensor) -> EncoderOutput:
        """What the hypotheses ``new_order`` of a running search read."""
        return encoder_out.index_select(new_order)

    def max_positions(self) -> int:
        return self._max_positions


class Decoder(FairseqIncrementalDecoder):
    """Scores the next target word.

    Args:
        dictionary: the target dictionary.
        embedding: the target embedding.
        layer: the recurrence.
        output: from features to scores.
        dropouts: the probabilities of dropping a unit of embeddings and features, and a whole embedding.
        max_positions: length of the longest target.
        autocast: the dtype of matrix products.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        embedding: nn.Embedding,
        *,
        layer: GRUDecoder | MinGRUDecoder,
        output: nn.Module,
        dropouts: tuple[float, float],
        max_positions: int,
        autocast: Autocast,
    ) -> None:
        super().__init__(dictionary)
        self.autocast = autocast
        self.embed_tokens = embedding
        self.layer = layer
        self.output_projection = output
        units, words = dropouts
        self.dropout_in = EmbeddingDropout(units, words=words, owner=type(self).__name__)
        self.dropout_out = Dropout(units, owner=type(self).__name__)
        self._max_positions = max_positions

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOutput | None = None,
        incremental_state: IncrementalState | None = None,
        features_only: bool = False,
        loss_of: Tensor | None = None,
        label_smoothing: float = 0.0,
        **kwargs: Any,
    ) -> tuple[Tensor | tuple[Tensor, Tensor], dict[str, list[Tensor]] | None]:
        """Scores the word after each previous word.

        Args:
            prev_output_tokens: (B, T). If the incremental state has seen a prefix, only the last column is read.
            encoder_out: the encoded batch.
            incremental_state: fairseq's search cache; None for teacher forcing.
            features_only: whether to stop before the output layer.
            loss_of: (B, T) the words that follow, padding among them, if only their loss is asked for. A model wrapped
                for several processes (DistributedDataParallel) must use its output weights in here: it expects
                gradients of what its forward pass has used, and of nothing else.
            label_smoothing: of that loss.
            **kwargs: what tasks pass to both encoder and decoder; ignored.

        Returns:
            The scores (B, T, V), or the features (B, T, O) if asked for; and, outside training and with attention,
            ``{"attn": [(B, T, S)]}`` in the layout of the source tokens: the weight of an annotation that covers
            several tokens is spread evenly over them. With ``loss_of``, what :meth:`cross_entropy` returns for its
            words, and None.
        """
        if loss_of is not None:
            assert encoder_out is not None, "this decoder reads an encoder"
            return self._loss(prev_output_tokens, encoder_out, loss_of, label_smoothing), None
        features, extra = self.extract_features(prev_output_tokens, encoder_out, incremental_state)
        return features if features_only else self.output_layer(features), extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: EncoderOutput | None = None,
        incremental_state: IncrementalState | None = None,
        **kwargs: Any,
    ) -> tuple[Tensor, dict[str, list[Tensor]] | None]:
        """Returns the features that :meth:`forward` gives to the output layer."""
        assert encoder_out is not None, "this decoder reads an encoder"
        state = self._cached_state(incremental_state)
        with self.autocast.on(self.embed_tokens.weight):
            if state is None:
                features, attention, state = self._start(prev_output_tokens, encoder_out)
            else:
                words, word = prev_output_tokens[:, -1], None
                # Each word once, unless dropout draws for each hypothesis. A GPU would rather multiply more than sort.
                if words.device.type == "cpu" and not self.dropout_in.retained:
                    words, word = words.unique(return_inverse=True)
                features, attention, state = self.layer.step(self._embed(words), encoder_out, state, word)
                features = self.dropout_out(features).unsqueeze(1)
                attention = None if attention is None else attention.unsqueeze(1)
        if incremental_state is not None:
            self.set_incremental_state(incremental_state, "decoder_state", state._asdict())
        extra = None if attention is None or self.training else {"attn": [encoder_out.over_tokens(attention)]}
        return features, extra

    def _start(self, tokens: Tensor, source: EncoderOutput) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Features (B, T, O), attention (B, T, S') or None, and the state after tokens (B, T) from the begin symbol on.

        If all hypotheses of each source start the same, as in a search, this is done once per source.
        """
        beam = source.beam
        alike = beam > 1 and bool((tokens.unflatten(0, (-1, beam)) == tokens[::beam].unsqueeze(1)).all())
        if alike:
            tokens, source = tokens[::beam], source._replace(beam=1)
        packing = self._packing(tokens)
        rows, weights, state = self._read(tokens, packing, source)
        features, attention = packing.unpack(rows), None if weights is None else packing.unpack(weights)
        if not alike:
            return features, attention, state
        attention = None if attention is None else for_each_hypothesis(attention, beam)
        return for_each_hypothesis(features, beam), attention, state.for_each_hypothesis(beam)

    def _loss(
        self, tokens: Tensor, source: EncoderOutput, following: Tensor, label_smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """What :meth:`cross_entropy` returns for the words (B, T) that follow the tokens (B, T), padding left out."""
        packing = self._packing(tokens)
        with self.autocast.on(self.embed_tokens.weight):
            rows, _, _ = self._read(tokens, packing, source)
        target = packing.pack(following)
        words = target.ne(self.dictionary.pad())
        if not words.all():  # a text may hold the symbol literally, and fairseq counts no loss for it
            rows, target = rows[words], target[words]
        # 6. Score the words that follow.
        return self.cross_entropy(rows, target, label_smoothing)

    def _packing(self, tokens: Tensor) -> Packing:
        """The packing of tokens (B, T), each row of which starts with the begin symbol.

        Raises:
            ValueError: if a target begins with another symbol than ``</s>``, which the order word_first never reads.
        """
        if self.layer.word_first and not tokens[:, :1].eq(self.dictionary.eos()).all():
            self._check_begin(tokens)
        return make_packing(padding_at_ends(tokens, self.dictionary.pad()))

    def _read(
        self, tokens: Tensor, packing: Packing, source: EncoderOutput
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Packed features (N, O), packed attention (N, S') or None, and the state after tokens (B, T)."""
        # 3. Embed the previous words; 4. attend and step, word for word; 5. read out the features.
        rows, attention, state = self.layer(self._embed(packing.pack(tokens)), packing, source)
        return self.dropout_out(rows), attention, state

    def _check_begin(self, tokens: Tensor) -> None:
        """Some tasks begin a target with its language, and would translate into any."""
        words = tokens.ne(self.dictionary.pad())
        begin = tokens.gather(1, words.int().argmax(1, keepdim=True)).squeeze(1)[words.any(1)]
        for symbol in begin[begin != self.dictionary.eos()].tolist():
            name = self.dictionary[symbol]
            raise ValueError(f"targets begin with {name}, not </s>: only --decoder-order attention_first reads that")

    def _embed(self, tokens: Tensor) -> Tensor:
        return self.dropout_in(self.embed_tokens(tokens))

    def output_layer(self, features: Tensor) -> Tensor:
        """Features (B, T, O) to scores (B, T, V)."""
        with self.autocast.on(features):
            return self.output_projection(features)

    def cross_entropy(self, features: Tensor, target: Tensor, label_smoothing: float) -> tuple[Tensor, Tensor]:
        """The loss, and the sum of −log p, of the targets (N,) given the features (N, O) of :meth:`output_layer`.

        The scores are computed for some rows at a time; see :func:`recurrent_mt.kernels.cross_entropy.cross_entropy`.
        """
        *others, last = output_layers(self.output_projection)
        with self.autocast.on(features):
            for layer in others:
                features = layer(features)
            return cross_entropy(features, last.weight, last.bias, target, label_smoothing=label_smoothing)

    def reorder_incremental_state(self, incremental_state: IncrementalState, new_order: Tensor) -> None:
        """Keeps the hypotheses ``new_order`` of a running search."""
        state = self._cached_state(incremental_state)
        if state is not None:
            self.set_incremental_state(incremental_state, "decoder_state", state.index_select(new_order)._asdict())

    def reorder_incremental_state_scripting(self, incremental_state: IncrementalState, new_order: Tensor) -> None:
        """What a search calls at each step; fairseq would ask each module whether it has a state."""
        self.reorder_incremental_state(incremental_state, new_order)

    def _cached_state(self, incremental_state: IncrementalState | None) -> DecoderState | None:
        cached = self.get_incremental_state(incremental_state, "decoder_state") if incremental_state else None
        return None if cached is None else DecoderState(**cached)

    def max_positions(self) -> int:
        return self._max_positions
