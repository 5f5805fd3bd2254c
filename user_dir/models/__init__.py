"""fairseq wiring: one registered model a file. Importing this registers them all."""

from .gru_encoder import GRUEncoderModel
from .grconv_encoder import GRConvEncoderModel

__all__ = ["GRConvEncoderModel", "GRUEncoderModel"]
