"""What a reader wants to know first: who is ahead, by how much, and what long sentences do to the scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas

from ..metrics import estimate_interval
from .analysis import Analysis
from .scores import CountedSystem, count_words, countable_sides
from .tables import (
    ALL,
    FEWEST,
    LOWER_IS_BETTER,
    PAIRED_TEST,
    SIGNIFICANT,
    Cell,
    Group,
    Table,
    count_chance_stars,
    format_number,
    select,
)

#: The first header of a table of pairs, in which systems are both rows and columns.
PAIRS = "row minus column"
#: The least p that is printed as a number.
LEAST_P = 0.001


@dataclass(frozen=True)
class Difference:
    """Of two systems' scores on the whole test set."""

    system: str
    other: str
    value: float  # the system's score minus the other's
    p: float | None  # see `PAIRED_TEST`; None without a test


@dataclass(frozen=True)
class Change:
    """From a system's score on sentences up to some length to that on longer ones."""

    system: str
    percent: float  # above 0 if longer sentences have the higher score
    low: float | None = None  # ends of the 95% bootstrap interval; None without resampling
    high: float | None = None

    @property
    def direction(self) -> str:
        """``falls``, ``rises``, or nothing where the interval has room for both."""
        if self.low is not None and self.high is not None and self.low <= 0 <= self.high:
            return ""
        return "rises" if self.percent > 0 else "falls"

    def __str__(self) -> str:
        ends = sorted(abs(end) for end in (self.low, self.high) if end is not None)
        interval = f", {ends[0]:.0f} to {ends[1]:.0f}%" if ends else ""
        return f"{self.system} ({abs(self.percent):.0f}%{interval})"


def main_metric(analysis: Analysis) -> str:
    """The printed name of the first metric that is broken down; of the first one if none is."""
    records = analysis.records
    return str([*records.loc[records["group"] == Group.LENGTH, "metric"], *analysis.signatures][0])


def compare_pairs(analysis: Analysis, metric: str) -> list[Difference]:
    """Every pair of systems, once: the later one's score minus the earlier one's."""
    sentences, settings = range(len(analysis.test_set)), analysis.settings
    scores = select(analysis.records, metric=metric, by=ALL).set_index("system")["value"]
    found = []
    for other, system in combinations(analysis.counted[metric], 2):
        p = system.test_difference(other, sentences, settings.resamples) if len(sentences) > 1 else None
        found.append(Difference(system.name, other.name, scores[system.name] - scores[other.name], p))
    return found


def pair_table(pairs: Sequence[Difference], metric: str, names: Sequence[str]) -> Table:
    """Systems downward and across, each pair once."""
    found = {(one.system, one.other): one for one in pairs}
    rows = [[pair_cell(found.get((name, other))) for other in names[:-1]] for name in names[1:]]
    notes = []
    if tested := [one for one in pairs if one.p is not None]:
        notes = [f"*: {PAIRED_TEST}, p < {SIGNIFICANT}.", *count_chance_stars(len(tested))]
    if metric in LOWER_IS_BETTER:
        notes.insert(0, "Below 0, the row's system is better.")
    return Table(f"Differences in {metric}", [PAIRS, *names[:-1]], names[1:], rows, notes)


def pair_cell(difference: Difference | None) -> Cell:
    """A difference and its p, as far as there are any."""
    if difference is None:
        return Cell("")
    value, p = format_number(difference.value, "+.2f"), difference.p
    return Cell(value) if p is None else Cell(value, f" ({format_p(p)})", star=p < SIGNIFICANT)


def format_p(p: float) -> str:
    """A probability in three digits; however many resamples there are, none is 0."""
    return f"p = {p:.3f}" if p >= LEAST_P else f"p < {LEAST_P}"


def write_headline(analysis: Analysis, pairs: Iterable[Difference], metric: str) -> list[str]:
    """Sentences: who is ahead, whether by chance, and what long sentences do to the scores."""
    scores = select(analysis.records, metric=metric, by=ALL).set_index("system")["value"]
    ranked = scores.sort_values(ascending=metric in LOWER_IS_BETTER, kind="stable")
    first, *others = ranked.index
    if not others:
        sentences = [f"{first} has {ranked.iloc[0]:.1f} {metric}."]
    else:
        (leaders,) = (one for one in pairs if {one.system, one.other} == {first, others[0]})
        sentences = [compare_leaders(leaders, ranked, metric)]
    if others[1:]:
        sentences.append(f"Behind them: {', '.join(f'{name} ({scores[name]:.1f})' for name in others[1:])}.")
    return [*sentences, *describe_long_sentences(analysis, metric)]


def compare_leaders(leaders: Difference, ranked: pandas.Series, metric: str) -> str:
    """The best two systems in one sentence."""
    first, second = list(ranked.index[:2])
    both = f"{ranked[first]:.1f} against {ranked[second]:.1f}"
    if metric in LOWER_IS_BETTER:
        both += ", lower is better"
    if leaders.p is not None and leaders.p >= SIGNIFICANT:
        # In two digits, 0.051 would be as much as the limit.
        return f"{first} and {second} cannot be told apart by {metric} ({both}; {format_p(leaders.p)})."
    how_sure = "not tested" if leaders.p is None else format_p(leaders.p)
    return f"{first} is ahead of {second} by {abs(leaders.value):.1f} {metric} ({both}; {how_sure})."


def describe_long_sentences(analysis: Analysis, metric: str) -> list[str]:
    """What happens to the scores beyond the middle one of the length limits; nothing where too few are longer."""
    side = countable_sides(analysis.test_set)[0]
    lengths = [max(words) for words in count_words(analysis.test_set, side)]
    limits = analysis.settings.limits
    for limit in reversed(limits[: (len(limits) + 1) // 2]):
        short = [number for number, length in enumerate(lengths) if length <= limit]
        long = [number for number, length in enumerate(lengths) if length > limit]
        if min(len(short), len(long)) >= FEWEST:
            changes = [change for one in analysis.counted[metric] if (change := measure_change(one, short, long))]
            return [f"Beyond {limit} {side} words, {describe_changes(changes, metric)}."] if changes else []
    return []


def measure_change(counted: CountedSystem, short: Sequence[int], long: Sequence[int]) -> Change | None:
    """How much higher a system's score is on the long sentences; None where that on the short ones may be 0."""
    before, after = (float(np.mean(list(counted.score_seeds(sentences).values()))) for sentences in (short, long))
    if not before:
        return None
    percent = 100 * (after / before - 1)
    resamples = counted.settings.resamples
    if not resamples:
        return Change(counted.name, percent)
    drawn = [counted.resample_means(sentences, resamples) for sentences in (short, long)]
    if not drawn[0].all():
        return None
    interval = estimate_interval(100 * (drawn[1] / drawn[0] - 1))
    return Change(counted.name, percent, interval.low, interval.high)


def describe_changes(changes: Sequence[Change], metric: str) -> str:
    """Which systems' scores fall and rise, and of which nothing can be said."""
    parts = []
    for direction in ("falls", "rises"):
        if found := [str(change) for change in changes if change.direction == direction]:
            parts.append(f"{direction} for {join(found)}")
    if unsure := [change.system for change in changes if not change.direction]:
        parts.append(f"shows no sure change for {join(unsure)}")
    return f"{metric} {join(parts)}"


def join(names: Sequence[str]) -> str:
    """As an enumeration in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
