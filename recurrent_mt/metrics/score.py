"""What every metric returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A 95% confidence interval by bootstrap resampling, as sacrebleu prints it: ``mean`` ± ``half_width``.

    The mean is that of the resampled scores, not the score itself, and the width that between the percentiles 2.5 and
    97.5.
    """

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width


@dataclass(frozen=True)
class Score:
    """The score of a corpus."""

    name: str  # the metric as printed, for example ``BLEU`` or ``chrF2``
    value: float  # the score itself, unrounded
    signature: str  # everything that determines the number: references, case, tokenization, version
    interval: Interval | None = None  # None unless resampling was requested
    details: str = ""  # anything else the metric reports, such as n-gram precisions; empty if nothing

    def __str__(self) -> str:
        """One line, as printed by sacrebleu's command."""
        spread = f" (μ = {self.interval.mean:.2f} ± {self.interval.half_width:.2f})" if self.interval else ""
        details = f" {self.details}" if self.details else ""
        return f"{self.name}|{self.signature} = {self.value:.2f}{spread}{details}"
