"""``grnn_encoder``: the gated recursive neural network of Chen et al. (2015)."""

from dataclasses import dataclass

from fairseq.models import register_model
from torch import nn

from recurrent_mt.layers.grnn import GRNNEncoder

from .config import EncoderDecoderConfig
from .encoder_decoder import EncoderDecoderModel


@dataclass
class GRNNEncoderConfig(EncoderDecoderConfig):
    """``grnn_encoder`` has no options of its own."""


@register_model("grnn_encoder", dataclass=GRNNEncoderConfig)
class GRNNEncoderModel(EncoderDecoderModel):
    """A full binary tree over the words. Its root is the summary; its leaves are the annotations."""

    @classmethod
    def build_encoder_layer(cls, config: GRNNEncoderConfig) -> nn.Module:
        return GRNNEncoder(config.encoder_embed_dim, config.encoder_hidden_size)
