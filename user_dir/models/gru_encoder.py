"""``gru_encoder``: the encoders of Cho et al. (2014a) and Bahdanau et al. (2015)."""

from dataclasses import dataclass

from fairseq.models import register_model
from torch import nn

from ..layers.gru import GRUEncoder
from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel, dropout


@dataclass
class GRUEncoderConfig(EncoderDecoderConfig):
    """Options of ``gru_encoder``."""

    encoder_layers: int = option(1, "number of encoder layers")
    encoder_bidirectional: bool = option(False, "read the source in both directions, in every layer")


@register_model("gru_encoder", dataclass=GRUEncoderConfig)
class GRUEncoderModel(EncoderDecoderModel):
    """RNNenc with ``--decoder-attention none``; RNNsearch with ``additive`` and ``--encoder-bidirectional``."""

    @classmethod
    def build_encoder_layer(cls, config: GRUEncoderConfig) -> nn.Module:
        """A stack of GRU layers."""
        return GRUEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            num_layers=config.encoder_layers,
            bidirectional=config.encoder_bidirectional,
            dropout=dropout(config, "encoder_dropout_out"),
        )
