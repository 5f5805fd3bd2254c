"""What a cleaning saw, dropped and kept, rule by rule and file by file: counts, and their report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .corpus_rules import CorpusRule
from .markdown import quoted, table
from .rules import Rule

# Lines that are not UTF-8, named for each file; all are counted.
_MAX_BROKEN = 10


class DroppedPair(NamedTuple):
    """A pair that was dropped.

    Attributes:
        place: file and line of its source, where known.
        source: text.
        target: text.
    """

    place: str
    source: str
    target: str


@dataclass
class CleaningCounts:
    """Counts of a corpus.

    Attributes:
        rules: names of the rules, in order.
        files: names of the source files, in order.
        max_examples: how many of each rule to remember.
        seen: pairs of each file.
        normalized: pairs of each file that normalization changed.
        dropped: for each file, the pairs that each rule dropped.
        broken: for each file of either side with lines that are not UTF-8, how many, and the numbers of the first.
        examples: the first pairs dropped, by the names of rules.
    """

    rules: tuple[str, ...]
    files: tuple[str, ...]
    max_examples: int
    seen: list[int] = field(init=False)
    normalized: list[int] = field(init=False)
    dropped: list[list[int]] = field(init=False)
    broken: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    examples: dict[str, list[DroppedPair]] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = [0] * len(self.files)
        self.normalized = [0] * len(self.files)
        self.dropped = [[0] * len(self.rules) for _ in self.files]
        self.examples = {rule: [] for rule in self.rules}

    def drop(self, file: int, rule: int, count: int) -> None:
        """Counts pairs of a file that a rule dropped."""
        self.dropped[file][rule] += count

    def remember(self, rule: int, example: DroppedPair) -> None:
        """Keeps an example, unless there are enough."""
        examples = self.examples[self.rules[rule]]
        if len(examples) < self.max_examples:
            examples.append(example)

    def count_broken(self, path: str, lines: list[int]) -> None:
        """Counts lines of a file that are not UTF-8."""
        count, first = self.broken.get(path, (0, []))
        self.broken[path] = (count + len(lines), [*first, *lines][:_MAX_BROKEN])

    def kept(self, file: int) -> int:
        """The pairs of a file that no rule dropped (so far)."""
        return self.seen[file] - sum(self.dropped[file])

    @property
    def total_kept(self) -> int:
        """The pairs of all files that no rule dropped (so far)."""
        return sum(map(self.kept, range(len(self.files))))

    def dropped_by(self, rule: int) -> int:
        """The pairs of all files that a rule dropped."""
        return sum(counts[rule] for counts in self.dropped)

    def seen_by(self, rule: int) -> int:
        """The pairs that came as far as a rule."""
        return sum(self.seen) - sum(self.dropped_by(earlier) for earlier in range(rule))


class RuleText(NamedTuple):
    """What a report says about a rule.

    Attributes:
        name: of the rule.
        reason: why it drops a pair.
        parameters: values by names; of sets of lines, their sizes.
    """

    name: str
    reason: str
    parameters: dict[str, Any]

    @classmethod
    def of(cls, rule: Rule | CorpusRule) -> RuleText:
        """The text of a rule, whose fields are its parameters."""
        parameters = {
            name: len(value) if isinstance(value, frozenset) else value
            for name, value in vars(rule).items()
            if not name.startswith("_")
        }
        return cls(rule.name, rule.reason, parameters)


def as_json(out: Path, counts: CleaningCounts, rules: Sequence[RuleText]) -> str:
    """Numbers of the report."""
    content = {
        "out": out.name,
        "seen": sum(counts.seen),
        "kept": counts.total_kept,
        "normalized": sum(counts.normalized),
        "rules": [
            {
                **rule._asdict(),
                "seen": counts.seen_by(index),
                "dropped": counts.dropped_by(index),
                "kept": counts.seen_by(index) - counts.dropped_by(index),
            }
            for index, rule in enumerate(rules)
        ],
        "files": [
            {
                "source": name,
                "seen": counts.seen[file],
                "kept": counts.kept(file),
                "normalized": counts.normalized[file],
                "dropped": dict(zip(counts.rules, counts.dropped[file], strict=True)),
            }
            for file, name in enumerate(counts.files)
        ],
        "not_utf8": {path: {"lines": count, "first": first} for path, (count, first) in counts.broken.items()},
        "examples": {rule: [example._asdict() for example in found] for rule, found in counts.examples.items()},
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def as_markdown(out: Path, counts: CleaningCounts, rules: Sequence[RuleText]) -> str:
    """The report to read."""
    seen, kept = sum(counts.seen), counts.total_kept
    parts = [
        f"# Cleaning of {out.name}",
        f"Of {seen:,} pairs {kept:,} are kept ({kept / seen:.2%}). Normalization changed {sum(counts.normalized):,}.",
        "## Rules, in the order in which they are tried",
        table(
            ("rule", "seen", "dropped", "of seen", "kept", "why", "parameters"),
            [_rule_row(index, rule, counts) for index, rule in enumerate(rules)],
        ),
        "## Files",
        table(
            ("source file", "seen", *counts.rules, "kept"),
            [
                (
                    f"`{name}`",
                    *(f"{count:,}" for count in (counts.seen[file], *counts.dropped[file], counts.kept(file))),
                )
                for file, name in enumerate(counts.files)
            ],
        ),
    ]
    if counts.broken:
        parts += ["## Lines that are not UTF-8", _broken(counts)]
    if any(counts.examples.values()):
        parts += ["## The first pairs dropped", _examples(counts)]
    return "\n\n".join(parts) + "\n"


def _rule_row(index: int, rule: RuleText, counts: CleaningCounts) -> tuple[str, ...]:
    seen, dropped = counts.seen_by(index), counts.dropped_by(index)
    share = f"{dropped / seen:.2%}" if seen else "–"
    parameters = ", ".join(f"{name} = {value}" for name, value in rule.parameters.items())
    return (rule.name, f"{seen:,}", f"{dropped:,}", share, f"{seen - dropped:,}", rule.reason, parameters)


def _broken(counts: CleaningCounts) -> str:
    return "\n".join(
        f"- `{path}`: {count:,}, line{'s' * (len(first) > 1)} {', '.join(map(str, first))}"
        + (" …" if count > len(first) else "")
        for path, (count, first) in counts.broken.items()
    )


def _examples(counts: CleaningCounts) -> str:
    lines = []
    for rule, examples in counts.examples.items():
        for example in examples:
            place = f" ({example.place})" if example.place else ""
            lines.append(f"- {rule}{place}:\n  - {quoted(example.source)}\n  - {quoted(example.target)}")
    return "\n".join(lines)
