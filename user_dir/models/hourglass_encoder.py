"""``unet_encoder`` and ``vnet_encoder``: Ronneberger et al. (2015) and Milletari et al. (2016) over words."""

from dataclasses import dataclass

from fairseq.models import register_model
from torch import nn

from recurrent_mt.layers.hourglass import UNetEncoder, VNetEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel


@dataclass
class UNetEncoderConfig(EncoderDecoderConfig):
    """Options of ``unet_encoder``."""

    unet_depth: int = option(
        3,
        "how often the U-Net halves the sentence (Ronneberger et al. 2015: 4); with the defaults, a word costs 5 times "
        "what it costs a GRU of the same --encoder-hidden-size in one direction: on a CPU, take 128 or 256",
    )


@register_model("unet_encoder", dataclass=UNetEncoderConfig)
class UNetEncoderModel(EncoderDecoderModel):
    """A U-Net: its top is the annotations; the means of the top and of the bottleneck form the summary."""

    @classmethod
    def build_encoder_layer(cls, config: UNetEncoderConfig) -> nn.Module:
        return UNetEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            depth=config.unet_depth,
            dropout=config.dropout,
        )


@dataclass
class VNetEncoderConfig(EncoderDecoderConfig):
    """Options of ``vnet_encoder``."""

    vnet_depth: int = option(
        3,
        "how often the V-Net halves the sentence (Milletari et al. 2016: 4); with the defaults, a word costs 10 times "
        "what it costs a GRU of the same --encoder-hidden-size in one direction: on a CPU, take 128 or 256",
    )


@register_model("vnet_encoder", dataclass=VNetEncoderConfig)
class VNetEncoderModel(EncoderDecoderModel):
    """A V-Net: its top is the annotations; the means of the top and of the bottleneck form the summary."""

    @classmethod
    def build_encoder_layer(cls, config: VNetEncoderConfig) -> nn.Module:
        return VNetEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            depth=config.vnet_depth,
            dropout=config.dropout,
        )
