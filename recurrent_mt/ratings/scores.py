"""What annotators' ratings say about systems, and how far annotators agree: numbers, and their tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import krippendorff
import numpy as np
from tabulate import tabulate

from .campaign import SCALES, Scale
from .ratings import Item, Ratings

#: Of sentences for an interval: fewer, drawn again and again, look more alike than others would be.
FEWEST_SENTENCES = 10
NOTE = """\
z: ratings standardized by each annotator's mean and standard deviation, averaged over annotators, then over sentences;
95% intervals by bootstrap resampling of sentences.
Alpha: Krippendorff's, of the ratings as given; 1 is perfect agreement, 0 is chance.
"""


@dataclass(frozen=True)
class SystemRating:
    """A system on one scale."""

    system: str  # name
    sentences: int  # that were rated at least once
    mean: float  # of the ratings as they were given: over annotators, then over sentences
    z: float | None  # the same of the standardized ratings; None if none of them could be standardized
    #: lower end of the 95% interval of `z`; None if fewer than `FEWEST_SENTENCES` have standardized ratings
    low: float | None
    high: float | None  # upper end, likewise


@dataclass(frozen=True)
class RatingDifference:
    """How much higher the first system's `z` is than the second's, with its 95% interval; None as there."""

    first: str
    second: str
    z: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha on one scale."""

    alpha: float | None  # 1 is perfect agreement, 0 what chance gives; None where it is not defined
    level: str  # level of measurement, which decides how far two ratings are apart
    items: int  # rated by at least two annotators
    reason: str = ""  # why there is no alpha, empty if there is one


@dataclass(frozen=True)
class ScaleScores:
    """All results of one scale."""

    scale: str  # its name
    systems: tuple[SystemRating, ...]  # best first
    differences: tuple[RatingDifference, ...]  # every two systems, the better one first
    agreement: Agreement  # of the annotators
    constant: tuple[str, ...]  # annotators without z-scores, because their ratings are all alike or fewer than two


def score_scale(
    annotators: Sequence[Ratings], scale: Scale, *, resamples: int = 1000, seed: int = 12345
) -> ScaleScores:
    """Scores all systems on one scale.

    An annotator's ratings are standardized by their own mean and standard deviation, averaged over annotators for each
    sentence, then over sentences. Intervals are percentiles over bootstrap resamples of sentences, the same ones for
    all systems.

    Raises:
        ValueError: if there are fewer than 2 resamples.
    """
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}: at least 2 (1000 is usual)")
    raw: dict[str, dict[Item, float]] = {one.annotator: dict(one.values.get(scale.name, {})) for one in annotators}
    standard = {name: standardize(values) for name, values in raw.items()}
    items = sorted({item for values in raw.values() for item in values})
    systems = sorted({system for item in items for system in item.systems})
    raw_means = average_sentences(list(raw.values()), items, systems)
    z_means = average_sentences([values for values in standard.values() if values is not None], items, systems)
    rated = (~np.isnan(raw_means)).sum(axis=0)
    scored = ~np.isnan(z_means)
    draws = np.random.default_rng(seed).integers(len(z_means), size=(resamples, len(z_means)))
    means, z, resampled = map(average_columns, (raw_means, z_means, z_means[draws]))
    order = sorted(range(len(z)), key=lambda index: (-np.nan_to_num(z[index], nan=-np.inf), -means[index]))
    return ScaleScores(
        scale=scale.name,
        systems=tuple(
            SystemRating(
                systems[index],
                int(rated[index]),
                float(means[index]),
                *add_interval(z[index], resampled[:, index], int(scored[:, index].sum())),
            )
            for index in order
        ),
        differences=tuple(
            RatingDifference(
                systems[i],
                systems[j],
                *add_interval(z[i] - z[j], resampled[:, i] - resampled[:, j], int((scored[:, i] & scored[:, j]).sum())),
            )
            for i, j in combinations(order, 2)
        ),
        agreement=compute_agreement(list(raw.values()), scale),
        constant=tuple(name for name, values in standard.items() if values is None),
    )


def standardize(values: Mapping[Item, float]) -> dict[Item, float] | None:
    """z-scores: (rating − mean) / standard deviation with n − 1, as in direct assessment.

    Returns None where that is not defined: fewer than two ratings, or all alike.
    """
    numbers = np.array(list(values.values()))
    if len(numbers) < 2 or np.ptp(numbers) == 0:
        return None
    return dict(zip(values, ((numbers - numbers.mean()) / numbers.std(ddof=1)).tolist(), strict=True))


def average_sentences(
    annotators: Sequence[Mapping[Item, float]], items: Sequence[Item], systems: Sequence[str]
) -> np.ndarray:
    """Mean rating over annotators, (sentences, systems); NaN where nobody rated."""
    rows = {sentence: row for row, sentence in enumerate(sorted({item.sentence for item in items}))}
    columns = {system: column for column, system in enumerate(systems)}
    # Who has rated systems together, and then one of them alone, has two ratings of it.
    sums, counts = np.zeros((2, len(rows), len(columns)))
    for values in annotators:
        for item, value in values.items():
            rated = rows[item.sentence], [columns[system] for system in item.systems]
            sums[rated] += value
            counts[rated] += 1
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def average_columns(means: np.ndarray) -> np.ndarray:
    """Mean over sentences, (..., sentences, systems) to (..., systems), without those that are NaN; NaN if all are."""
    known = ~np.isnan(means)
    sums, counts = np.where(known, means, 0.0).sum(axis=-2), known.sum(axis=-2)
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def add_interval(
    value: float, resampled: np.ndarray, sentences: int
) -> tuple[float | None, float | None, float | None]:
    """A value, the 2.5th and the 97.5th percentile of its resamples.

    None for all three if the value is not defined, and for both percentiles of fewer than `FEWEST_SENTENCES`.
    """
    if np.isnan(value):
        return None, None, None
    if sentences < FEWEST_SENTENCES:
        return float(value), None, None
    low, high = np.nanpercentile(resampled, [2.5, 97.5])
    return float(value), float(low), float(high)


def compute_agreement(annotators: Sequence[Mapping[Item, float]], scale: Scale) -> Agreement:
    """Krippendorff's alpha (2004, Content Analysis, chapter 11) of the ratings as they were given."""
    items = sorted({item for values in annotators for item in values})
    table = np.array([[values.get(item, np.nan) for item in items] for values in annotators])
    shared = (~np.isnan(table)).sum(axis=0) > 1
    count = int(shared.sum())
    if count == 0:
        return Agreement(None, scale.level, 0, "no item was rated by two annotators")
    if np.ptp(table[:, shared][~np.isnan(table[:, shared])]) == 0:
        return Agreement(None, scale.level, count, "all ratings are the same")
    return Agreement(float(krippendorff.alpha(table, level_of_measurement=scale.level)), scale.level, count)


@dataclass(frozen=True)
class RatingOutcome:
    """Everything that a study's files say."""

    campaign: str  # its name
    files: dict[str, str]  # annotator -> file
    rated: dict[str, int]  # annotator -> number of translations that they rated
    scales: tuple[ScaleScores, ...]  # one a scale


def evaluate_ratings(
    campaign: str, annotators: Sequence[Ratings], *, resamples: int = 1000, seed: int = 12345
) -> RatingOutcome:
    """Scores every scale; errors as of `score_scale`."""
    scales = [scale for name, scale in SCALES.items() if any(name in ratings.values for ratings in annotators)]
    return RatingOutcome(
        campaign=campaign,
        files={ratings.annotator: ratings.path for ratings in annotators},
        rated={ratings.annotator: len(set().union(*ratings.values.values())) for ratings in annotators},
        scales=tuple(score_scale(annotators, scale, resamples=resamples, seed=seed) for scale in scales),
    )


def as_json(outcome: RatingOutcome) -> str:
    """Returns all numbers for JSON, unrounded."""
    return json.dumps(asdict(outcome), indent=2, ensure_ascii=False) + "\n"


def as_text(outcome: RatingOutcome) -> str:
    """Formats the tables for a terminal."""
    rated = [[annotator, str(count)] for annotator, count in outcome.rated.items()]
    lines = ["Annotators", *format_table(["Name", "Rated"], rated)]
    for scale in outcome.scales:
        lines += ["", *scale_lines(scale)]
    return "\n".join([*lines, "", NOTE])


def scale_lines(scores: ScaleScores) -> list[str]:
    """Formats all results of one scale."""
    systems = [[score.system, *format_z(score), f"{score.mean:.2f}", str(score.sentences)] for score in scores.systems]
    lines = [scores.scale.capitalize()]
    lines += format_table(["System", "z", "95% interval", "Mean rating", "Sentences"], systems)
    if scores.differences:
        differences = [
            [f"{pair.first} − {pair.second}", *format_z(pair), "above zero" if pair.low and pair.low > 0 else ""]
            for pair in scores.differences
        ]
        lines += ["", *format_table(["Difference", "z", "95% interval", ""], differences)]
    agreement = scores.agreement
    alpha = (
        f"none, {agreement.reason}"
        if agreement.alpha is None
        else f"{agreement.alpha:.3f} over {agreement.items} items"
    )
    lines += ["", f"Alpha ({agreement.level}): {alpha}"]
    if scores.constant:
        lines.append(f"No z-scores, ratings being all alike or fewer than two: {', '.join(scores.constant)}")
    return lines


def format_z(score: SystemRating | RatingDifference) -> tuple[str, str]:
    """The z-score and its interval, or dashes where there are none."""
    interval = "–" if score.low is None or score.high is None else f"{score.low:+.3f} to {score.high:+.3f}"
    return "–" if score.z is None else f"{score.z:+.3f}", interval


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, the first column to the left and the others to the right."""
    alignment = ("left", *("right" for _ in header[1:]))
    return tabulate(rows, header, disable_numparse=True, colalign=alignment).splitlines()
