"""Sizes of whole models."""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """Units of each part.

    Attributes:
        embedding: E, for both languages.
        encoder: H per direction of the encoder; an encoder without directions has twice as many units.
        decoder: H of the decoder.
        readout: maxout units, or for the stock model the layer before the vocabulary.
        vocabulary: V for each language, including fairseq's symbols.
    """

    embedding: int
    encoder: int
    decoder: int
    readout: int
    vocabulary: int

    @property
    def encoded(self) -> int:
        """The width of an annotation, D, and of the summary, C, of every encoder here."""
        return 2 * self.encoder


SIZES = {
    "tiny": Sizes(6, 5, 10, 7, 40),
    # configs/multi30k.yaml, with the vocabulary of 6,000 joint merges.
    "small": Sizes(256, 256, 512, 256, 3300),
    # Bahdanau et al. (2015), A.2.3, with a vocabulary of 30,000 (section 4.1).
    "paper": Sizes(620, 1000, 1000, 500, 30000),
}


def sizes(name: str) -> Sizes:
    """The sizes of that name.

    Raises:
        ValueError: if there are none.
    """
    if name not in SIZES:
        raise ValueError(f"there are no sizes {name!r}; there are: {', '.join(SIZES)}")
    return SIZES[name]
