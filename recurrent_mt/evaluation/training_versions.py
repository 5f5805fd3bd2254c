"""With what versions of the code and its libraries trainings were made: the seeds of a mean should have the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from .outcomes import OUTCOME, Status, read_outcome

#: What is said of a training that ended before its versions were kept.
NOT_KEPT = "versions that were not kept"


def read_versions(folder: Path, *, seeds: Collection[int]) -> dict[int, str]:
    """The versions of a system's trainings that have finished, by seed, as of `describe_versions`."""
    outcomes = {seed: read_outcome(folder / f"seed-{seed}" / OUTCOME) for seed in sorted(seeds)}
    return {
        seed: outcome.versions or NOT_KEPT
        for seed, outcome in outcomes.items()
        if outcome is not None and outcome.status == Status.FINISHED
    }


def describe_mixtures(versions: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    """A note on each system whose seeds were trained with different versions."""
    for system, by_seed in versions.items():
        if len(set(by_seed.values())) > 1:
            each = (f"seed {seed} with {text}" for seed, text in by_seed.items())
            yield f"{system}: its seeds were trained with different versions, {'; '.join(each)}."


def summarize_versions(versions: Mapping[str, Mapping[int, str]]) -> str:
    """All versions that occur, in one line; each with its trainings if there are several."""
    trainings: dict[str, list[str]] = {}
    for system, by_seed in versions.items():
        for seed, text in by_seed.items():
            trainings.setdefault(text, []).append(f"{system} {seed}")
    if len(trainings) == 1:
        return next(iter(trainings))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in trainings.items())
