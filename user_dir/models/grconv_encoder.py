"""``grconv_encoder``: the gated recursive convolutional network of Cho et al. (2014b)."""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.models import register_model
from torch import nn

from ..kernels.grconv import ACTIVATIONS
from ..layers.grconv import GRConvEncoder
from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel

ACTIVATION_CHOICES = ChoiceEnum(list(ACTIVATIONS))


@dataclass
class GRConvEncoderConfig(EncoderDecoderConfig):
    """Options of ``grconv_encoder``."""

    grconv_activation: ACTIVATION_CHOICES = option("tanh", "activation of a new node, before the gates mix it in")


@register_model("grconv_encoder", dataclass=GRConvEncoderConfig)
class GRConvEncoderModel(EncoderDecoderModel):
    """grConv; with attention the decoder reads the leaves, and the root makes its first state."""

    @classmethod
    def build_encoder_layer(cls, config: GRConvEncoderConfig) -> nn.Module:
        """A pyramid over the words."""
        return GRConvEncoder(
            config.encoder_embed_dim, config.encoder_hidden_size, activation=str(config.grconv_activation)
        )
