"""How far seeds alone move a score, estimated over all cells at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from ..bucket_scores import BucketScore

#: Standard errors from which on a difference is called one.
FAR = 2.0


@dataclass(frozen=True)
class SeedNoise:
    """The spread of scores among seeds of one cell.

    Two or three seeds say little of their own cell's spread; under the assumption that all cells have the same, all of
    them estimate it together.

    Attributes:
        deviation: pooled standard deviation.
        degrees: of freedom that it rests on.
    """

    deviation: float
    degrees: int

    def beyond(self, one: BucketScore, other: BucketScore) -> bool:
        """Whether two means over seeds are further apart than `FAR` standard errors of their difference."""
        if one.mean is None or other.mean is None:
            return False
        error = self.deviation * sqrt(1 / len(one.by_seed) + 1 / len(other.by_seed))
        return abs(one.mean - other.mean) > FAR * error


def seed_noise(scores: Sequence[BucketScore]) -> SeedNoise | None:
    """Pools the cells; None if none has two seeds."""
    spread = [(len(one.by_seed) - 1, one.deviation) for one in scores if one.deviation is not None]
    degrees = sum(freedom for freedom, _ in spread)
    if not degrees:
        return None
    return SeedNoise(sqrt(sum(freedom * deviation**2 for freedom, deviation in spread) / degrees), degrees)
