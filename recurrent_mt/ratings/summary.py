"""The outcome of a rating study as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tabulate import tabulate

from .campaign import SCALES
from .ratings import Ratings
from .scores import RatingDifference, ScaleScores, SystemRating, score_scale

NOTE = """\
z: ratings standardized by each annotator's mean and standard deviation, averaged over annotators, then over sentences;
95% intervals by bootstrap resampling of sentences.
Alpha: Krippendorff's, of the ratings as given; 1 is perfect agreement, 0 is chance.
"""


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
    return format_number(score.z, "+.3f"), interval


def format_number(number: float | None, form: str) -> str:
    """The number, or a dash where there is none."""
    return "–" if number is None else format(number, form)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, the first column to the left and the others to the right."""
    alignment = ("left", *("right" for _ in header[1:]))
    return tabulate(rows, header, disable_numparse=True, colalign=alignment).splitlines()
