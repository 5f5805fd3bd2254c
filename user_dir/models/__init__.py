"""fairseq wiring: one registered model per file; U-Net and V-Net share one. Importing this package registers all."""

from .grconv_encoder import GRConvEncoderModel
from .grnn_encoder import GRNNEncoderModel
from .gru_encoder import GRUEncoderModel
from .hourglass_encoder import UNetEncoderModel, VNetEncoderModel
from .min_gru_encoder import MinGRUEncoderModel
from .sepconv_encoder import SepConvEncoderModel

__all__ = [
    "GRConvEncoderModel",
    "GRNNEncoderModel",
    "GRUEncoderModel",
    "MinGRUEncoderModel",
    "SepConvEncoderModel",
    "UNetEncoderModel",
    "VNetEncoderModel",
]
