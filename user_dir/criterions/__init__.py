"""What training minimizes; importing this package registers the criterions with fairseq."""

from . import chunked_cross_entropy, summed_cross_entropy

__all__ = ["chunked_cross_entropy", "summed_cross_entropy"]
