"""The outcome of a rating study as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from tabulate import tabulate

from .ratings import Key, Ratings
from .scores import (
    REPEAT_LIMIT,
    SIGNIFICANCE,
    Controls,
    RatingDifference,
    ScaleScores,
    SystemRating,
    check_controls,
    score_scale,
)

ANNOTATOR_COLUMNS = ("Name", "Unrated", "Seconds a screen", "Degraded: drop", "p", "Repeated: difference", "Controls")

NOTE = f"""\
z: ratings standardized by each annotator's mean and standard deviation, averaged over annotators, then over sentences;
95% intervals by bootstrap resampling of sentences. Ratings of control items count for no system.
Alpha: Krippendorff's, of the ratings as given; 1 is perfect agreement, 0 is chance.
An annotator fails if degraded translations are not rated below their originals (exact paired randomization test,
one-sided, p > {SIGNIFICANCE}), or if the two ratings of repeated items differ by more than {REPEAT_LIMIT:.0%} of the
scale on average.
"""


@dataclass(frozen=True)
class RatingOutcome:
    """Everything that a study's files say."""

    page: str  # checksum of the page
    mode: str  # way of rating
    files: dict[str, str]  # annotator -> file
    unrated: dict[str, int]  # annotator -> number of items without a rating
    seconds: dict[str, float]  # annotator -> median time for which a screen was in sight
    controls: tuple[Controls, ...]  # one an annotator
    excluded: tuple[str, ...]  # annotators whose ratings were not scored, because they fail the controls
    scales: tuple[ScaleScores, ...]  # one a scale


def evaluate_ratings(
    annotators: Sequence[Ratings],
    key: Key,
    *,
    exclude_failing: bool = False,
    resamples: int = 1000,
    seed: int = 12345,
) -> RatingOutcome:
    """Checks the controls and scores every scale.

    Raises:
        ValueError: as `score_scale`; also if all annotators fail and `exclude_failing` is set.
    """
    controls = tuple(check_controls(ratings, key) for ratings in annotators)
    failing = {result.annotator for result in controls if result.failures} if exclude_failing else set()
    scored = [ratings for ratings in annotators if ratings.annotator not in failing]
    return RatingOutcome(
        page=key.page,
        mode=key.mode,
        files={ratings.annotator: ratings.path for ratings in annotators},
        unrated={ratings.annotator: len(ratings.unrated) for ratings in annotators},
        seconds={ratings.annotator: median(screen_seconds(ratings)) for ratings in annotators},
        controls=controls,
        excluded=tuple(ratings.annotator for ratings in annotators if ratings.annotator in failing),
        scales=tuple(score_scale(scored, key, scale, resamples=resamples, seed=seed) for scale in key.scales),
    )


def screen_seconds(ratings: Ratings) -> list[float]:
    """Time of each screen; the items of a screen share it."""
    return list({identifier.split(".")[0]: seconds for identifier, seconds in ratings.seconds.items()}.values())


def as_json(outcome: RatingOutcome) -> str:
    """Returns all numbers for JSON, unrounded."""
    return json.dumps(asdict(outcome), indent=2, ensure_ascii=False) + "\n"


def as_text(outcome: RatingOutcome) -> str:
    """Formats the tables for a terminal."""
    annotators = [annotator_row(result, outcome) for result in outcome.controls]
    lines = ["Annotators", *format_table(ANNOTATOR_COLUMNS, annotators), ""]
    for result in outcome.controls:
        lines += [f"{result.annotator} fails the controls: {failure}" for failure in result.failures]
        lines += [f"{result.annotator} cannot be judged in full: {remark}" for remark in result.remarks]
    if outcome.excluded:
        lines.append(f"Left out of what follows: {', '.join(outcome.excluded)}")
    elif any(result.failures for result in outcome.controls):
        lines.append("Those who fail are scored all the same; --exclude-failing leaves them out.")
    for scale in outcome.scales:
        lines += ["", *scale_lines(scale)]
    return "\n".join([*lines, "", NOTE])


def annotator_row(result: Controls, outcome: RatingOutcome) -> list[str]:
    """Formats the row of one annotator, for `ANNOTATOR_COLUMNS`."""
    return [
        result.annotator,
        str(outcome.unrated[result.annotator]),
        f"{outcome.seconds[result.annotator]:.1f}",
        f"{format_number(result.degraded_drop, '.0%')} ({result.degraded_pairs})",
        format_number(result.degraded_p, ".3f"),
        f"{format_number(result.repeated_difference, '.0%')} ({result.repeated_pairs})",
        "FAILED" if result.failures else "not judged" if result.remarks else "passed",
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
