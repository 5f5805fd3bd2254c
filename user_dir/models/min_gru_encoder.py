"""``min_gru_encoder``: a stack of minimal GRUs (Feng et al. 2024), an encoder without a recurrent matrix."""

from dataclasses import dataclass

from fairseq.models import register_model
from torch import nn

from recurrent_mt.layers.min_gru import MinGRUEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel, min_gru_variant


@dataclass
class MinGRUEncoderConfig(EncoderDecoderConfig):
    """Options of ``min_gru_encoder``, which reads in both directions."""

    encoder_layers: int = option(2, "number of encoder layers, as in fairseq's lstm")


@register_model("min_gru_encoder", dataclass=MinGRUEncoderConfig)
class MinGRUEncoderModel(EncoderDecoderModel):
    """Minimal GRUs in both directions; with ``--decoder-cell min_gru``, no product waits for another word."""

    normalizes_layers = True

    @classmethod
    def build_encoder_layer(cls, config: MinGRUEncoderConfig) -> nn.Module:
        """A stack of minimal GRU layers."""
        return MinGRUEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            num_layers=config.encoder_layers,
            bidirectional=True,
            dropout=config.dropout,
            variant=min_gru_variant(config, "encoder"),
        )
