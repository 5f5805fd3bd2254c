"""Cleans parallel text: normalizes it, drops pairs by rules, and counts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import IO

import numpy as np

from ..ordered_map import ordered_map
from .block_cleaning import BlockCleaner, CleanedBlock
from .cleaning_report import CleaningCounts, DroppedPair, RuleText, as_json, as_markdown
from .corpus_rules import corpus_rules
from .parallel_text import find_file, read_blocks, read_raw_lines
from .partial_files import partial_folder, publish_corpus, refuse_overwriting
from .progress import Progress
from .rules import pair_rules
from .words import normalize


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What to clean and how.

    Attributes:
        sources: files of the source side.
        targets: as many of the target side.
        languages: codes of the two sides.
        out: prefix of the two files made.
        report: file for the report; one that ends with .json instead appears beside it.
        exclude: prefixes of held-out sets.
        max_words: the most words of a side.
        max_ratio: how many times the words of the other a side may have.
        language_check: whether lines in other languages are dropped.
        examples: dropped pairs that the report shows for each rule.
        jobs: processes.
    """

    sources: Sequence[Path]
    targets: Sequence[Path]
    languages: tuple[str, str]
    out: Path
    report: Path
    exclude: Sequence[Path] = ()
    max_words: int = 100
    max_ratio: float = 3.0
    language_check: bool = True
    examples: int = 3
    jobs: int = 1

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
        ValueError: wrong options, files that do not fit together or are damaged, or nothing left.
        OSError: a file cannot be read or written.
        RuntimeError: a process died.
    """
    _check(cleaning)
    rules = pair_rules(
        cleaning.languages,
        held_out_lines(cleaning.exclude, cleaning.languages),
        max_words=cleaning.max_words,
        max_ratio=cleaning.max_ratio,
        language_check=cleaning.language_check,
    )
    later_rules = corpus_rules()
    texts = [*map(RuleText.of, rules), *map(RuleText.of, later_rules)]
    sources = tuple(cleaning.shown_names[path] for path in cleaning.sources)
    counts = CleaningCounts(tuple(text.name for text in texts), sources, cleaning.examples)
    with partial_folder(cleaning.out) as folder:
        records = folder / "records"
        cleaner = BlockCleaner(rules, cleaning.languages, cleaning.examples)
        survivors = _apply_pair_rules(cleaning, cleaner, counts, folder)
        verdicts = np.zeros(counts.total_kept, np.uint8)
        for code, later in enumerate(later_rules, start=1):
            if len(verdicts):
                later.mark(records, verdicts, code)
        written = _apply_verdicts(survivors, verdicts, counts, first_rule=len(rules))
        if not (verdicts == 0).any():
            raise ValueError(f"no pair is left of {sum(counts.seen)} ({_drops(counts)})")
        publish_corpus(
            dict(zip(cleaning.languages, written, strict=True)),
            cleaning.out,
            cleaning.report,
            markdown=as_markdown(cleaning.out, counts, texts),
            numbers=as_json(cleaning.out, counts, texts),
        )
    return counts


def held_out_lines(prefixes: Sequence[Path], languages: tuple[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """Normalized, casefolded lines of each side of held-out sets.

    Raises:
        FileError: a side is missing or damaged.
    """
    source, target = (
        frozenset(
            normalize(line.decode(errors="replace")).casefold()
            for prefix in prefixes
            for line in read_raw_lines(find_file(prefix, language))
        )
        for language in languages
    )
    return source, target


def _check(cleaning: Cleaning) -> None:
    if cleaning.max_words < 1 or cleaning.max_ratio < 1 or cleaning.examples < 0 or cleaning.jobs < 1:
        raise ValueError("the most words, the ratio and the processes must be at least 1")
    if cleaning.languages[0] == cleaning.languages[1]:
        raise ValueError(f"source and target are both '{cleaning.languages[0]}': give two languages")
    refuse_overwriting((*cleaning.sources, *cleaning.targets), cleaning.out, cleaning.languages, cleaning.report)


def _apply_pair_rules(
    cleaning: Cleaning, cleaner: BlockCleaner, counts: CleaningCounts, folder: Path
) -> tuple[Path, Path]:
    """Writes what the pair rules keep, and its records."""
    paths = (folder / "survivors.source", folder / "survivors.target")
    progress = Progress("cleaning")
    with ExitStack() as stack:
        files: list[IO[bytes]] = [stack.enter_context(path.open("wb")) for path in (*paths, folder / "records")]
        blocks = read_blocks(cleaning.sources, cleaning.targets)
        for cleaned in ordered_map(cleaner, blocks, cleaning.jobs):
            for file, content in zip(files, (cleaned.source, cleaned.target, cleaned.records), strict=True):
                file.write(content)
            _count(cleaned, cleaning, counts)
            progress.update(cleaned.seen, cleaned.progress)
    progress.finish()
    if not sum(counts.seen):
        raise ValueError(f"there is no pair in {', '.join(map(str, cleaning.sources))}")
    return paths


def _count(cleaned: CleanedBlock, cleaning: Cleaning, counts: CleaningCounts) -> None:
    counts.seen[cleaned.file] += cleaned.seen
    counts.normalized[cleaned.file] += cleaned.normalized
    for rule, count in enumerate(cleaned.dropped):
        counts.drop(cleaned.file, rule, count)
    for rule, line, source, target in cleaned.examples:
        counts.remember(rule, DroppedPair(f"{counts.files[cleaned.file]}:{line}", source, target))
    for side, lines in enumerate(cleaned.broken):
        path = (cleaning.sources, cleaning.targets)[side][cleaned.file]
        if lines:
            counts.count_broken(cleaning.shown_names[path], lines)


def _apply_verdicts(
    survivors: tuple[Path, Path], verdicts: np.ndarray, counts: CleaningCounts, *, first_rule: int
) -> list[Path]:
    """Writes the pairs whose verdict is 0, and counts the others for their files."""
    kept = [counts.kept(file) for file in range(len(counts.files))]
    for file, part in enumerate(np.split(verdicts, np.cumsum(kept)[:-1])):
        # np.bincount would make eight bytes of each.
        for code in range(1, 1 + int(part.max(initial=0))):
            counts.drop(file, first_rule + code - 1, int(np.count_nonzero(part == code)))
    written = [path.with_suffix(f"{path.suffix}.kept") for path in survivors]
    first = 0
    with written[0].open("wb") as source_file, written[1].open("wb") as target_file:
        for block in read_blocks([survivors[0]], [survivors[1]]):
            part = verdicts[first : first + len(block.source)]
            first += len(part)
            for kept_file, lines in ((source_file, block.source), (target_file, block.target)):
                kept_file.writelines(line + b"\n" for line in compress(lines, part == 0))
            for index in np.flatnonzero(part):
                example = DroppedPair("", block.source[index].decode(), block.target[index].decode())
                counts.remember(first_rule + int(part[index]) - 1, example)
    return written


def _drops(counts: CleaningCounts) -> str:
    return ", ".join(f"{name} {counts.dropped_by(rule)}" for rule, name in enumerate(counts.rules))
