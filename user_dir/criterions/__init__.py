"""What training makes small; importing this package registers them with fairseq."""

from . import chunked_cross_entropy, summed_cross_entropy

__all__ = ["chunked_cross_entropy", "summed_cross_entropy"]
