"""The fairseq encoder around any encoder of :mod:`recurrent_mt.layers`."""

from __future__ import annotations

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from recurrent_mt.kernels.packing import padding_at_ends
from recurrent_mt.layers.attention import EncoderSelfAttention
from recurrent_mt.layers.dropout import Dropout, EmbeddingDropout
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.grconv import DilatedGRConvEncoder

from .products import Products


class Encoder(FairseqEncoder):
    """Embeds the source and encodes it.

    Args:
        dictionary: the source dictionary.
        embedding: the source embedding.
        layer: a module (B, S, E), (B, S) → :class:`~recurrent_mt.layers.encoder_output.EncoderOutput`, which gives the
            sizes of its output as ``annotation_size`` and ``summary_size``.
        dropouts: of the embeddings, and the probability of that of the annotations and the summary.
        max_positions: length of the longest source.
        norm: of the layer's annotations and summary, or None.
        self_attention: applied to the layer's output, or None.
        products: how matrix products are computed.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        embedding: nn.Embedding,
        *,
        layer: nn.Module,
        dropouts: tuple[EmbeddingDropout, float],
        max_positions: int,
        norm: nn.LayerNorm | None = None,
        self_attention: EncoderSelfAttention | None = None,
        products: Products,
    ) -> None:
        super().__init__(dictionary)
        self.products = products
        self.embed_tokens = embedding
        self.layer = layer
        self.norm = norm
        self.self_attention = self_attention
        self.dropout_in = dropouts[0]
        self.dropout_out = Dropout(dropouts[1], owner=type(self).__name__)
        self._max_positions = max_positions

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None, **kwargs: Any) -> EncoderOutput:
        """Encodes a batch.

        Args:
            src_tokens: (B, S), padded on either side, in any order of lengths. A literal ``<pad>`` between words is
                read like a word whose embedding is zero, as in fairseq's lstm.
            src_lengths: not used; fairseq passes it.
            **kwargs: other things that tasks pass; ignored.
        """
        with self.products.on(self.embed_tokens.weight):
            embedded = self.dropout_in(self.embed_tokens(src_tokens))
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
