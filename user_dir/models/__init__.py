"""fairseq wiring: one registered model per file. Importing this package registers them all."""

from .grconv_encoder import GRConvEncoderModel
from .grnn_encoder import GRNNEncoderModel
from .gru_encoder import GRUEncoderModel
from .sepconv_encoder import SepConvEncoderModel
from .unet_encoder import UNetEncoderModel
from .vnet_encoder import VNetEncoderModel

__all__ = [
    "GRConvEncoderModel",
    "GRNNEncoderModel",
    "GRUEncoderModel",
    "SepConvEncoderModel",
    "UNetEncoderModel",
    "VNetEncoderModel",
]
