"""Cleans parallel text: normalizes it, drops pairs by rules, and reports what it saw, dropped and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..characters import normalize
from ..ordered_map import ordered_map
from ..text_files import find_file
from .parallel_text import (
    Block,
    ProgressLine,
    check_outputs,
    name_sides,
    partial_folder,
    publish_corpus,
    read_blocks,
    read_raw_lines,
)
from .reports import quote_pair, table
from .rules import CORPUS_RULES, RECORD, Rule, SentencePair, fold, pair_record, pair_rules
from .words import has_words

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


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """The files to clean, and the settings for it."""

    sources: Sequence[Path]  # files of the source side
    targets: Sequence[Path]  # as many of the target side
    languages: tuple[str, str]  # codes of the two sides
    out: Path  # prefix of the two files made
    report: Path  # file for the report; one that ends with .json instead appears beside it
    exclude: Sequence[Path] = ()  # prefixes of held-out sets
    max_words: int = 100  # the most words of a side
    max_ratio: float = 3.0  # how many times the words of the other a side may have
    language_check: bool = True  # whether lines in other languages are dropped
    examples: int = 3  # dropped pairs that the report shows for each rule
    jobs: int = 1  # processes

    def __post_init__(self) -> None:
        for name, least in {"max_words": 1, "max_ratio": 1, "examples": 0, "jobs": 1}.items():
            # No comparison holds for what is not a number.
            if not getattr(self, name) >= least:
                flag = name.replace("_", "-")
                raise ValueError(f"--{flag} must be at least {least}, not {getattr(self, name)}")
        if self.languages[0] == self.languages[1]:
            raise ValueError(f"source and target are both '{self.languages[0]}': give two languages")
        if self.max_ratio != Cleaning.max_ratio and not all(map(has_words, self.languages)):
            (first, *_) = (language for language in self.languages if not has_words(language))
            raise ValueError(f"the words of {first} cannot be counted, which has no spaces: leave --max-ratio out")
        read = (*self.sources, *self.targets, *name_sides(self.exclude, self.languages))
        check_outputs(read, self.out, self.languages, self.report)

    @cached_property
    def shown_names(self) -> dict[Path, str]:
        """Names of the files in the report: paths within the folder that they and the report lie in.

        So the same text has the same report wherever it is prepared.
        """
        paths = (*self.sources, *self.targets)
        folder = Path(os.path.commonpath([os.path.abspath(path) for path in (*paths, self.report)]))
        if folder == Path(folder.anchor):
            return {path: str(path) for path in paths}
        return {path: os.path.relpath(path, folder) for path in paths}


def clean(cleaning: Cleaning) -> CleaningCounts:
    """Writes the pairs that every rule keeps, in order, and the report; all four files appear together.

    A first pass applies the rules that look at one pair, in all processes, and writes what is left aside with a record
    of 16 bytes a pair; the rules on the corpus look at these; a second pass drops their pairs. In memory are a few
    blocks of lines, the records of half a million pairs, and one byte for each pair left.

    Raises:
        ValueError: files that do not fit together or are damaged, or nothing left.
        OSError: a file cannot be read or written.
        RuntimeError: a process died.
    """
    rules = pair_rules(
        cleaning.languages,
        held_out_lines(cleaning.exclude, cleaning.languages),
        max_words=cleaning.max_words,
        max_ratio=cleaning.max_ratio,
        language_check=cleaning.language_check,
    )
    sources = tuple(cleaning.shown_names[path] for path in cleaning.sources)
    counts = CleaningCounts((*rules, *CORPUS_RULES), sources, cleaning.examples)
    with partial_folder(cleaning.out) as folder:
        survivors = (folder / "survivors.source", folder / "survivors.target")
        _apply_pair_rules(cleaning, rules, counts, (*survivors, folder / "records"))
        verdicts = np.zeros(counts.kept.sum(), np.uint8)
        if len(verdicts):
            for code, rule in enumerate(CORPUS_RULES, start=1):
                rule(folder / "records", verdicts, code)
        written = _apply_verdicts(survivors, verdicts, counts, first_rule=len(rules))
        if not counts.kept.any():
            raise ValueError(f"no pair is left of {counts.seen.sum()} ({counts.describe_drops()})")
        publish_corpus(
            dict(zip(cleaning.languages, written, strict=True)),
            cleaning.out,
            cleaning.report,
            markdown=as_markdown(cleaning.out, counts),
            numbers=collect_numbers(cleaning.out, counts),
        )
    return counts


def held_out_lines(prefixes: Sequence[Path], languages: tuple[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """Normalized lines of each side of held-out sets, as :func:`.fold` has them.

    Raises:
        FileError: a side is missing or damaged.
    """
    source, target = (
        frozenset(
            fold(normalize(line.decode(errors="replace")), language)
            for prefix in prefixes
            for line in read_raw_lines(find_file(prefix, language))
        )
        for language in languages
    )
    return source, target


class CleanedBlock(NamedTuple):
    """What is left of a block, and what happened to the rest."""

    file: int  # as the block has it
    progress: float  # as the block has it
    seen: int  # how many pairs
    normalized: int  # how many pairs normalization changed
    #: lines of source and target with newlines, and the pairs' records (see :data:`.RECORD`)
    kept: tuple[bytes, bytes, bytes]
    dropped: list[tuple[int, int, str, str]]  # number of the rule, of the line, and both texts
    broken: tuple[list[int], list[int]]  # for each side, numbers of lines that are not UTF-8


def clean_block(block: Block, rules: Sequence[Rule], languages: tuple[str, str]) -> CleanedBlock:
    """Normalizes the pairs of a block and drops those that a rule drops."""
    source: list[str] = []
    target: list[str] = []
    dropped = []
    broken: tuple[list[int], list[int]] = ([], [])
    normalized = 0
    for line, raw in enumerate(zip(block.source, block.target, strict=True), start=block.first_line):
        texts = [_decode(side, line, lines) for side, lines in zip(raw, broken, strict=True)]
        pair = SentencePair(normalize(texts[0]), normalize(texts[1]), languages)
        normalized += pair.source != texts[0] or pair.target != texts[1]
        for number, rule in enumerate(rules):
            if rule(pair):
                dropped.append((number, line, pair.source, pair.target))
                break
        else:
            source.append(pair.source)
            target.append(pair.target)
    records = np.array([pair_record(*pair, languages) for pair in zip(source, target, strict=True)], RECORD)
    lines = ["".join(f"{text}\n" for text in side).encode() for side in (source, target)]
    kept = (lines[0], lines[1], records.tobytes())
    return CleanedBlock(block.file, block.progress, len(block.source), normalized, kept, dropped, broken)


def _decode(line: bytes, number: int, broken: list[int]) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        broken.append(number)
        return line.decode(errors="replace")


def _apply_pair_rules(cleaning: Cleaning, rules: Sequence[Rule], counts: CleaningCounts, paths: Sequence[Path]) -> None:
    """Writes what the pair rules keep: source, target and records."""
    progress = ProgressLine("cleaning")
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        function = partial(clean_block, rules=rules, languages=cleaning.languages)
        for cleaned in ordered_map(function, read_blocks(cleaning.sources, cleaning.targets), cleaning.jobs):
            for file, content in zip(files, cleaned.kept, strict=True):
                file.write(content)
            _count(cleaned, cleaning, counts)
            progress.update(cleaned.seen, cleaned.progress)
    progress.finish()
    if not counts.seen.any():
        raise ValueError(f"there is no pair in {', '.join(map(str, cleaning.sources))}")


def _count(cleaned: CleanedBlock, cleaning: Cleaning, counts: CleaningCounts) -> None:
    counts.seen[cleaned.file] += cleaned.seen
    counts.normalized[cleaned.file] += cleaned.normalized
    for rule, line, source, target in cleaned.dropped:
        counts.dropped[cleaned.file, rule] += 1
        counts.remember(rule, DroppedPair(f"{counts.files[cleaned.file]}:{line}", source, target))
    for paths, lines in zip((cleaning.sources, cleaning.targets), cleaned.broken, strict=True):
        if lines:
            counts.count_broken(cleaning.shown_names[paths[cleaned.file]], lines)


def _apply_verdicts(
    survivors: tuple[Path, Path], verdicts: np.ndarray, counts: CleaningCounts, *, first_rule: int
) -> list[Path]:
    """Writes the pairs whose verdict is 0, and counts the others for their files."""
    for file, part in enumerate(np.split(verdicts, np.cumsum(counts.kept)[:-1])):
        # np.bincount would make eight bytes of each.
        for code in range(1, 1 + len(CORPUS_RULES)):
            counts.dropped[file, first_rule + code - 1] = np.count_nonzero(part == code)
    written = [path.with_suffix(f"{path.suffix}.kept") for path in survivors]
    first = 0
    with written[0].open("wb") as source_file, written[1].open("wb") as target_file:
        for block in read_blocks([survivors[0]], [survivors[1]]):
            part = verdicts[first : first + len(block.source)]
            first += len(part)
            block.write((source_file, target_file), part == 0)
            for index in np.flatnonzero(part):
                example = DroppedPair("", block.source[index].decode(), block.target[index].decode())
                counts.remember(first_rule + int(part[index]) - 1, example)
    return written
