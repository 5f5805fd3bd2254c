"""The outcome of a rating study as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tabulate import tabulate

from .campaign import SCALES
from .ratings import Ratings
from .scores import (
    SIGNIFICANCE,
    Controls,
    RatingDifference,
    ScaleScores,
    SystemRating,
    check_controls,
    score_scale,
)

ANNOTATOR_COLUMNS = ("Name", "Rated", "Degraded: drop", "p", "Controls")

NOTE = f"""\
z: ratings standardized by each annotator's mean and standard deviation, averaged over annotators, then over sentences;
95% intervals by bootstrap resampling of sentences. Ratings of control items count for no system.
Alpha: Krippendorff's, of the ratings as given; 1 is perfect agreement, 0 is chance.
An annotator fails if degraded translations are not rated below their originals (exact paired randomization test,
one-sided, p > {SIGNIFICANCE}).
"""


@dataclass(frozen=True)
class RatingOutcome:
    """Everything that a study's files say."""

    campaign: str  # its name
    files: dict[str, str]  # annotator -> file
    rated: dict[str, int]  # annotator -> number of translations that they rated, with the controls
    controls: tuple[Controls, ...]  # one an annotator
    excluded: tuple[str, ...]  # annotators whose ratings were not scored, because they fail the controls
    scales: tuple[ScaleScores, ...]  # one a scale


def evaluate_ratings(
    campaign: str,
    annotators: Sequence[Ratings],
    *,
    exclude_failing: bool = False,
    resamples: int = 1000,
    seed: int = 12345,
) -> RatingOutcome:
    """Checks the controls and scores every scale.

    Raises:
        ValueError: as `score_scale`; also if all annotators fail and `exclude_failing` is set.
    """
    controls = tuple(check_controls(ratings) for ratings in annotators)
    failing = {result.annotator for result in controls if result.failure} if exclude_failing else set()
    scored = [ratings for ratings in annotators if ratings.annotator not in failing]
    scales = [scale for name, scale in SCALES.items() if any(name in ratings.values for ratings in annotators)]
    return RatingOutcome(
        campaign=campaign,
        files={ratings.annotator: ratings.path for ratings in annotators},
        rated={ratings.annotator: len(set().union(*ratings.values.values())) for ratings in annotators},
        controls=controls,
        excluded=tuple(ratings.annotator for ratings in annotators if ratings.annotator in failing),
        scales=tuple(score_scale(scored, scale, resamples=resamples, seed=seed) for scale in scales),
    )


def as_json(outcome: RatingOutcome) -> str:
    """Returns all numbers for JSON, unrounded."""
    return json.dumps(asdict(outcome), indent=2, ensure_ascii=False) + "\n"


def as_text(outcome: RatingOutcome) -> str:
    """Formats the tables for a terminal."""
    annotators = [annotator_row(result, outcome) for result in outcome.controls]
    lines = ["Annotators", *format_table(ANNOTATOR_COLUMNS, annotators), ""]
    for result in outcome.controls:
        if result.failure:
            lines.append(f"{result.annotator} fails the controls: {result.failure}")
        if result.remark:
            lines.append(f"{result.annotator} cannot be judged: {result.remark}")
    if outcome.excluded:
        lines.append(f"Left out of what follows: {', '.join(outcome.excluded)}")
    elif any(result.failure for result in outcome.controls):
        lines.append("Those who fail are scored all the same; --exclude-failing leaves them out.")
    for scale in outcome.scales:
        lines += ["", *scale_lines(scale)]
    return "\n".join([*lines, "", NOTE])


def annotator_row(result: Controls, outcome: RatingOutcome) -> list[str]:
    """Formats the row of one annotator, for `ANNOTATOR_COLUMNS`."""
    return [
        result.annotator,
        str(outcome.rated[result.annotator]),
        f"{format_number(result.degraded_drop, '.0%')} ({result.degraded_pairs})",
        format_number(result.degraded_p, ".3f"),
        "FAILED" if result.failure else "not judged" if result.remark else "passed",
    ]


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
    return format_number(score.z, "+.3f"), interval


def format_number(number: float | None, form: str) -> str:
    """The number, or a dash where there is none."""
    return "–" if number is None else format(number, form)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, the first column to the left and the others to the right."""
    alignment = ("left", *("right" for _ in header[1:]))
    return tabulate(rows, header, disable_numparse=True, colalign=alignment).splitlines()
