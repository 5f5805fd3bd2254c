"""The outcome of a rating study as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from tabulate import tabulate

from .controls import REPEAT_LIMIT, SIGNIFICANCE, Controls, check_controls
from .ratings import Key, Ratings
from .scores import RatingDifference, ScaleScores, SystemRating, score_scale

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
    """Everything that a study's files say.

    Attributes:
        page: checksum of the page.
        mode: way of rating.
        files: annotator -> file.
        unrated: annotator -> number of items without a rating.
        seconds: annotator -> median time for which a screen was in sight.
        controls: one an annotator.
        left_out: annotators whose ratings were not scored, because they fail the controls.
        scales: one a scale.
    """

    page: str
    mode: str
    files: dict[str, str]
    unrated: dict[str, int]
    seconds: dict[str, float]
    controls: tuple[Controls, ...]
    left_out: tuple[str, ...]
    scales: tuple[ScaleScores, ...]


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
        ValueError: as `score_scale`; also if all annotators fail and `exclude_failing` leaves them out.
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
        left_out=tuple(ratings.annotator for ratings in annotators if ratings.annotator in failing),
        scales=tuple(score_scale(scored, key, scale, resamples=resamples, seed=seed) for scale in key.scales),
    )


def screen_seconds(ratings: Ratings) -> list[float]:
    """Time of each screen; the items of a screen share it."""
    return list({identifier.split(".")[0]: seconds for identifier, seconds in ratings.seconds.items()}.values())


def as_json(outcome: RatingOutcome) -> str:
    """Everything, unrounded."""
    return json.dumps(asdict(outcome), indent=2, ensure_ascii=False) + "\n"


def as_text(outcome: RatingOutcome) -> str:
    """Tables for a terminal."""
    lines = ["Annotators", *format_table(ANNOTATOR_COLUMNS, annotator_rows(outcome)), ""]
    for result in outcome.controls:
        lines += [f"{result.annotator} fails the controls: {failure}" for failure in result.failures]
        lines += [f"{result.annotator} cannot be judged in full: {remark}" for remark in result.remarks]
    if outcome.left_out:
        lines.append(f"Left out of what follows: {', '.join(outcome.left_out)}")
    elif any(result.failures for result in outcome.controls):
        lines.append("Those who fail are scored all the same; --exclude-failing leaves them out.")
    for scale in outcome.scales:
        lines += ["", *scale_lines(scale)]
    return "\n".join([*lines, "", NOTE])


def annotator_rows(outcome: RatingOutcome) -> list[list[str]]:
    """One row an annotator, under `ANNOTATOR_COLUMNS`."""
    rows = []
    for result in outcome.controls:
        rows.append(
            [
                result.annotator,
                str(outcome.unrated[result.annotator]),
                f"{outcome.seconds[result.annotator]:.1f}",
                f"{format_number(result.degraded_drop, '.0%')} ({result.degraded_pairs})",
                format_number(result.degraded_p, ".3f"),
                f"{format_number(result.repeated_difference, '.0%')} ({result.repeated_pairs})",
                "FAILED" if result.failures else "not judged" if result.remarks else "passed",
            ]
        )
    return rows


def scale_lines(scores: ScaleScores) -> list[str]:
    """Everything about one scale."""
    lines = [scores.scale.capitalize()]
    header = ["System", "z", "95% interval", "Mean rating", "Sentences"]
    lines += format_table(header, map(system_row, scores.systems))
    if scores.differences:
        header = ["Difference", "z", "95% interval", ""]
        lines += ["", *format_table(header, map(difference_row, scores.differences))]
    agreement = scores.agreement
    if agreement.alpha is None:
        lines += ["", f"Alpha ({agreement.level}): none, {agreement.reason}"]
    else:
        lines += ["", f"Alpha ({agreement.level}): {agreement.alpha:.3f} over {agreement.items} items"]
    if scores.constant:
        lines.append(f"No z-scores, all ratings being alike: {', '.join(scores.constant)}")
    return lines


def system_row(score: SystemRating) -> list[str]:
    """One system of a scale."""
    return [
        score.system,
        format_number(score.z, "+.3f"),
        format_interval(score.low, score.high),
        f"{score.mean:.2f}",
        str(score.sentences),
    ]


def difference_row(difference: RatingDifference) -> list[str]:
    """Two systems of a scale."""
    verdict = ""
    if difference.low is not None and difference.low > 0:
        verdict = "above zero"
    return [
        f"{difference.first} − {difference.second}",
        format_number(difference.z, "+.3f"),
        format_interval(difference.low, difference.high),
        verdict,
    ]


def format_number(number: float | None, form: str) -> str:
    """The number, or a dash where there is none."""
    return "–" if number is None else format(number, form)


def format_interval(low: float | None, high: float | None) -> str:
    """Both ends, or a dash."""
    return "–" if low is None or high is None else f"{low:+.3f} to {high:+.3f}"


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table, the first column to the left and the others to the right."""
    alignment = ("left", *("right" for _ in header[1:]))
    return tabulate(list(rows), header, disable_numparse=True, colalign=alignment).splitlines()
