"""Weights of fairseq's transformer that are counted but never trained.

Each encoder layer of fairseq 0.12.2 keeps a second copy of its matrices and biases for a faster evaluation, filled when
a trained model is loaded. They are parameters, so that fairseq's own count of a model includes them.
"""

from __future__ import annotations

import re

LAYERS = re.compile(r"\(\d+(?:-\d+)?\): (?:(\d{1,9}) x )?TransformerEncoderLayer(?:Base)?\($")
INNER_LAYER = re.compile(r"\(fc1\): Linear\(in_features=(\d{1,9}), out_features=(\d{1,9}), ")


class FastPathCopies:
    """Counts them from the printed model that a training log begins with."""

    def __init__(self) -> None:
        """Starts before the model."""
        self.parameters = 0
        self.layers = 0

    def read(self, text: str) -> None:
        """One line of the log."""
        if match := LAYERS.search(text):
            self.layers = int(match[1] or 1)
        elif self.layers and (match := INNER_LAYER.search(text)):
            width, inner = int(match[1]), int(match[2])
            attention = 4 * (width * width + width)
            self.parameters += self.layers * (attention + 2 * width * inner + inner + width)
            self.layers = 0

    def take(self) -> int:
        """The count of the model that has been read; the next one begins at zero."""
        count, self.parameters = self.parameters, 0
        return count
