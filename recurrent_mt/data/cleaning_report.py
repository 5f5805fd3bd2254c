"""What a cleaning saw, dropped and kept, rule by rule and file by file: counts, and their report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .markdown import quote_pair, table
from .rules import Rule

# Lines that are not UTF-8, named for each file; all are counted.
_MAX_BROKEN = 10


class DroppedPair(NamedTuple):
    """A pair that was dropped: file and line of its source, where known, and both texts."""

    place: str
    source: str
    target: str


@dataclass
class CleaningCounts:
    """How many pairs of a corpus were read, kept, and dropped by which rule."""

    rules: Sequence[Rule]  # in order
    files: Sequence[str]  # names of the source files, in order
    max_examples: int  # how many of each rule to remember
    #: for each file of either side with lines that are not UTF-8, how many, and the numbers of the first
    broken: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    seen: np.ndarray = field(init=False)  # pairs of each file (files,)
    normalized: np.ndarray = field(init=False)  # pairs that normalization changed (files,)
    dropped: np.ndarray = field(init=False)  # pairs that each rule dropped (files, rules)
    examples: dict[str, list[DroppedPair]] = field(init=False)  # the first pairs dropped, by the names of rules

    def __post_init__(self) -> None:
        self.seen, self.normalized = np.zeros((2, len(self.files)), int)
        self.dropped = np.zeros((len(self.files), len(self.rules)), int)
        self.examples = {rule.name: [] for rule in self.rules}

    def remember(self, rule: int, example: DroppedPair) -> None:
        """Keeps an example, unless there are enough."""
        examples = self.examples[self.rules[rule].name]
        if len(examples) < self.max_examples:
            examples.append(example)

    def count_broken(self, path: str, lines: list[int]) -> None:
        """Counts lines of a file that are not UTF-8."""
        count, first = self.broken.get(path, (0, []))
        self.broken[path] = (count + len(lines), [*first, *lines][:_MAX_BROKEN])

    @property
    def kept(self) -> np.ndarray:
        """The pairs of each file that no rule dropped so far (files,)."""
        return self.seen - self.dropped.sum(axis=1)

    @property
    def by_rule(self) -> list[tuple[Rule, int, int]]:
        """Each rule with the pairs that came as far as it, and those that it dropped."""
        dropped = self.dropped.sum(axis=0)
        seen = self.seen.sum() - (dropped.cumsum() - dropped)
        return list(zip(self.rules, seen.tolist(), dropped.tolist(), strict=True))

    def describe_drops(self) -> str:
        """How many pairs each rule dropped, on one line."""
        return ", ".join(f"{rule.name} {dropped}" for rule, _, dropped in self.by_rule)


def _parameters(rule: Rule) -> dict[str, Any]:
    """The parameters of a rule; of sets of lines, their sizes."""
    return {name: len(value) if isinstance(value, frozenset) else value for name, value in rule.parameters.items()}


def collect_numbers(out: Path, counts: CleaningCounts) -> dict[str, Any]:
    """Collects the numbers of the report for JSON."""
    return {
        "out": out.name,
        "seen": int(counts.seen.sum()),
        "kept": int(counts.kept.sum()),
        "normalized": int(counts.normalized.sum()),
        "rules": [
            {
                "name": rule.name,
                "reason": rule.reason,
                "parameters": _parameters(rule),
                "seen": seen,
                "dropped": dropped,
                "kept": seen - dropped,
            }
            for rule, seen, dropped in counts.by_rule
        ],
        "files": [
            {
                "source": name,
                "seen": int(counts.seen[file]),
                "kept": int(counts.kept[file]),
                "normalized": int(counts.normalized[file]),
                "dropped": dict(zip(counts.examples, counts.dropped[file].tolist(), strict=True)),
            }
            for file, name in enumerate(counts.files)
        ],
        "not_utf8": {path: {"lines": count, "first": first} for path, (count, first) in counts.broken.items()},
        "examples": {rule: [example._asdict() for example in found] for rule, found in counts.examples.items()},
    }


def as_markdown(out: Path, counts: CleaningCounts) -> str:
    """Formats the report as Markdown."""
    seen, kept = counts.seen.sum(), counts.kept.sum()
    by_file = np.column_stack([counts.seen, counts.dropped, counts.kept])
    parts = [
        f"# Cleaning of {out.name}",
        f"Of {seen:,} pairs {kept:,} are kept ({kept / seen:.2%}). Normalization changed {counts.normalized.sum():,}.",
        "## Rules, in the order in which they are tried",
        table(("rule", "seen", "dropped", "of seen", "kept", "why", "parameters"), map(_rule_row, counts.by_rule)),
        "## Files",
        table(
            ("source file", "seen", *counts.examples, "kept"),
            ((f"`{name}`", *(f"{count:,}" for count in row)) for name, row in zip(counts.files, by_file, strict=True)),
        ),
    ]
    if counts.broken:
        parts += [
            "## Lines that are not UTF-8",
            "\n".join(_describe_broken(path, *counts.broken[path]) for path in counts.broken),
        ]
    examples = [(rule, example) for rule, found in counts.examples.items() for example in found]
    if examples:
        parts += ["## The first pairs dropped", "\n".join(_describe_example(*example) for example in examples)]
    return "\n\n".join(parts) + "\n"


def _rule_row(counted: tuple[Rule, int, int]) -> tuple[str, ...]:
    rule, seen, dropped = counted
    share = f"{dropped / seen:.2%}" if seen else "–"
    parameters = ", ".join(f"{name} = {value}" for name, value in _parameters(rule).items())
    return (rule.name, f"{seen:,}", f"{dropped:,}", share, f"{seen - dropped:,}", rule.reason, parameters)


def _describe_broken(path: str, count: int, first: list[int]) -> str:
    more = " …" if count > len(first) else ""
    return f"- `{path}`: {count:,}, line{'s' * (len(first) > 1)} {', '.join(map(str, first))}{more}"


def _describe_example(rule: str, example: DroppedPair) -> str:
    place = f" ({example.place})" if example.place else ""
    return quote_pair(f"{rule}{place}:", example.source, example.target)
