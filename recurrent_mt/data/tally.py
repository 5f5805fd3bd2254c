"""What was seen, dropped and kept, rule by rule and file by file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

# Lines that are not UTF-8, named for each file; all are counted.
_MAX_BROKEN = 10


class Example(NamedTuple):
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
class Tally:
    """Counts of a corpus.

    Attributes:
        rules: names of the rules, in order.
        files: names of the source files, in order.
        max_examples: how many of each rule to remember.
        seen: pairs of each file.
        normalized: pairs of each file that normalisation changed.
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
    examples: dict[str, list[Example]] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = [0] * len(self.files)
        self.normalized = [0] * len(self.files)
        self.dropped = [[0] * len(self.rules) for _ in self.files]
        self.examples = {rule: [] for rule in self.rules}

    def drop(self, file: int, rule: int, count: int) -> None:
        """Counts pairs of a file that a rule dropped."""
        self.dropped[file][rule] += count

    def remember(self, rule: int, example: Example) -> None:
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

    def dropped_by(self, rule: int) -> int:
        """The pairs of all files that a rule dropped."""
        return sum(counts[rule] for counts in self.dropped)

    def seen_by(self, rule: int) -> int:
        """The pairs that came as far as a rule."""
        return sum(self.seen) - sum(self.dropped_by(earlier) for earlier in range(rule))
