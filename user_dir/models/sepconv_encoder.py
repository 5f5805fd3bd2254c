"""``sepconv_encoder``: the depthwise separable convolutions of Kaiser et al. (2017)."""

from dataclasses import dataclass

from fairseq.models import register_model
from torch import nn

from recurrent_mt.layers.separable_convolution import SeparableConvolutionEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel


@dataclass
class SepConvEncoderConfig(EncoderDecoderConfig):
    """Options of ``sepconv_encoder``."""

    encoder_layers: int = option(
        2, "number of modules, each with a step for every one of --sepconv-kernels (Kaiser et al. 2017: 6)"
    )
    sepconv_kernels: str = option(
        "3,3,15,15", "odd widths of a module's convolutions, comma-separated (Kaiser et al. 2017, section 2.1)"
    )


@register_model("sepconv_encoder", dataclass=SepConvEncoderConfig)
class SepConvEncoderModel(EncoderDecoderModel):
    """SliceNet's encoder. With attention, the decoder reads its top layer; the mean of that layer is the summary."""

    @classmethod
    def build_encoder_layer(cls, config: SepConvEncoderConfig) -> nn.Module:
        """A stack of convolutional modules over the words.

        Raises:
            ValueError: if widths are not numbers.
        """
        return SeparableConvolutionEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            num_modules=config.encoder_layers,
            widths=widths(config.sepconv_kernels),
            dropout=config.dropout,
        )


def widths(text: str) -> list[int]:
    """The whole numbers in a comma-separated list.

    Raises:
        ValueError: if it is anything else.
    """
    try:
        return [int(number) for number in str(text).split(",")]
    except ValueError:
        raise ValueError(f"--sepconv-kernels must be whole numbers separated by commas, not {text!r}") from None
