"""How long a translation is, and how far a pair is from that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# The median of the absolute deviations of a normal distribution, in standard deviations.
_MAD_OF_NORMAL = 0.6745


@dataclass(frozen=True)
class LengthModel:
    """Gale and Church (1993): a unit of source length gives rise to ``ratio`` of the target, with a variance.

    Attributes:
        ratio: their c.
        variance: their s squared, for each unit of source length.
    """

    ratio: float
    variance: float

    @classmethod
    def fit(cls, source: np.ndarray, target: np.ndarray) -> LengthModel:
        """From lengths of pairs (N,), by medians, which misaligned pairs hardly move.

        Raises:
            ValueError: no pairs.
        """
        if not len(source):
            raise ValueError("there is no pair to fit lengths to")
        ratio = float(np.median(target / source))
        deviation = np.median(np.abs(_scaled(source, target, ratio))) / _MAD_OF_NORMAL
        # Where most pairs have the very same ratio, one more or less in a hundred is still no error.
        return cls(ratio, max(float(deviation) ** 2, 0.01))

    def deviations(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How many standard deviations each target is from the length expected: their delta, unsigned (N,)."""
        return np.abs(_scaled(source, target, self.ratio)) / self.variance**0.5


def _scaled(source: np.ndarray, target: np.ndarray, ratio: float) -> np.ndarray:
    """Differences from the expected length over the root of the length, the mean of both sides' (symmetric)."""
    return (target - ratio * source) / np.sqrt((source + target / ratio) / 2)
