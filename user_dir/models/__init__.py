"""fairseq wiring: one registered model a file. Importing this registers them all."""

from .grconv_encoder import GRConvEncoderModel
from .gru_encoder import GRUEncoderModel

__all__ = ["GRConvEncoderModel", "GRUEncoderModel"]
