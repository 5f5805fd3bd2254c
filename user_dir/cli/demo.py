"""The half of ``recurrent-mt demo`` that reads checkpoints."""

from ..checkpoints.translator import Translator

__all__ = ["Translator"]
