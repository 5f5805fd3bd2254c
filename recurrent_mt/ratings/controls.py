"""Do an annotator's ratings of the control items show that they read what they rated?

Degraded items. They must be rated below their originals: a one-sided paired test at 0.05, as in direct assessment
(Graham et al. 2016, ``quality-control.R``). The published code takes the t-test; here it is the exact randomization
test on the same paired differences (Fisher 1935), which assumes no distribution: under chance each difference might as
well have the other sign, and the p-value is the share of all changes of signs whose sum is at least as large. With
fewer than 5 pairs no outcome would be significant, so nothing is said.

Repeated items. Their two ratings may differ by a quarter of the scale on average: 25 of 100 points, one of the
five-point scales. Ratings at random differ by a third of a continuous scale and by 0.4 of a five-point one. Direct
assessment sets no limit; this one is ours.

Where an item has two ratings (adequacy and fluency), the test is on their sum, the limit on the mean difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .ratings import Key, Ratings
from .study import DEGRADED, REPEAT

SIGNIFICANCE = 0.05
FEWEST_PAIRS = 5
REPEAT_LIMIT = 0.25


@dataclass(frozen=True)
class Controls:
    """How an annotator did on the controls.

    Attributes:
        annotator: name.
        degraded_pairs: degraded items that were rated, as were their originals.
        degraded_drop: by how much they were rated lower on average, as a share of the scale; None without pairs.
        degraded_p: p-value of the test; None where there are fewer than `FEWEST_PAIRS`.
        repeated_pairs: repeated items that were rated both times.
        repeated_difference: mean absolute difference of the two ratings, as a share of the scale; None without pairs.
        failures: why the annotator fails, in words; empty if nothing speaks against them.
        remarks: what could not be judged, in words.
    """

    annotator: str
    degraded_pairs: int
    degraded_drop: float | None
    degraded_p: float | None
    repeated_pairs: int
    repeated_difference: float | None
    failures: tuple[str, ...]
    remarks: tuple[str, ...]


def check_controls(ratings: Ratings, key: Key) -> Controls:
    """Applies the rules above to one annotator."""
    widths = np.array([scale.high - scale.low for scale in key.scales])
    drops = compute_paired_differences(ratings, key, DEGRADED)
    differences = np.abs(compute_paired_differences(ratings, key, REPEAT)) / widths
    failures, remarks = [], []
    p_value = compute_sign_change_p_value(drops.sum(axis=1)) if len(drops) >= FEWEST_PAIRS else None
    if p_value is None:
        remarks.append(f"{len(drops)} degraded items with both ratings: {FEWEST_PAIRS} are needed for a test")
    elif p_value > SIGNIFICANCE:
        failures.append(
            f"degraded translations are not rated below their originals (p = {p_value:.3f}, {len(drops)} pairs)"
        )
    difference = float(differences.mean()) if len(differences) else None
    if difference is None:
        remarks.append("no repeated item has both ratings")
    elif difference > REPEAT_LIMIT:
        failures.append(
            f"the two ratings of a repeated item differ by {difference:.0%} of the scale on average, more than "
            f"{REPEAT_LIMIT:.0%}"
        )
    return Controls(
        annotator=ratings.annotator,
        degraded_pairs=len(drops),
        degraded_drop=float((drops / widths).mean()) if len(drops) else None,
        degraded_p=p_value,
        repeated_pairs=len(differences),
        repeated_difference=difference,
        failures=tuple(failures),
        remarks=tuple(remarks),
    )


def compute_paired_differences(ratings: Ratings, key: Key, kind: str) -> np.ndarray:
    """Original minus control, (pairs, scales), for the controls of a kind that were rated on every scale both times."""
    values = [ratings.values[scale.name] for scale in key.scales]
    rows = []
    for identifier, item in key.of_kind(kind).items():
        original = item.original
        if original is not None and all(identifier in scale and original in scale for scale in values):
            rows.append([scale[original] - scale[identifier] for scale in values])
    return np.array(rows, dtype=int).reshape(len(rows), len(values))


def compute_sign_change_p_value(differences: Sequence[int] | np.ndarray) -> float:
    """One-sided p-value of the exact paired randomization test that whole-number differences are above zero.

    The distribution of the sum over all changes of signs is built up difference by difference, so that no number of
    pairs is too large.
    """
    sizes = [abs(int(difference)) for difference in differences]
    reach = sum(sizes)
    # probabilities[reach + s] is the probability of the sum s.
    probabilities = np.zeros(2 * reach + 1)
    probabilities[reach] = 1.0
    for size in sizes:
        probabilities = (np.roll(probabilities, size) + np.roll(probabilities, -size)) / 2
    return float(probabilities[reach + int(sum(differences)) :].sum())
