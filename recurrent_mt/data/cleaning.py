"""Cleans parallel text: normalizes it, drops pairs by rules, and reports what it saw, dropped and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from tqdm import tqdm

from ..characters import normalize
from ..ordered_map import ordered_map
from ..text_files import find_file, read_lines
from .parallel_text import (
    PAUSE,
    Block,
    check_outputs,
    name_sides,
    partial_folder,
    read_blocks,
    write_report,
    write_sides,
)
from .reports import quote_pair, table
from .rules import CORPUS_RULES, RECORD, Rule, SentencePair, fold, pair_record, pair_rules

#: Dropped pairs that the report shows for each rule.
EXAMPLES = 3


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
    jobs: int = 1  # processes

    def __post_init__(self) -> None:
        read = (*self.sources, *self.targets, *name_sides(self.exclude, self.languages))
        check_outputs(read, self.out, self.languages, self.report)


def make_report(
    out: Path, rules: Sequence[Rule], files: Sequence[dict[str, Any]], examples: dict[str, list[dict[str, str]]]
) -> dict[str, Any]:
    """The numbers of the report, which is written as JSON and as Markdown, from what was counted of each file."""
    counted = []
    totals = {name: sum(file[name] for file in files) for name in ("seen", "kept", "normalized")}
    left = totals["seen"]
    for rule in rules:
        # Of sets of lines, their sizes.
        parameters = {
            name: len(value) if isinstance(value, frozenset) else value for name, value in rule.parameters.items()
        }
        dropped = sum(file["dropped"][rule.name] for file in files)
        sums = {"seen": left, "dropped": dropped, "kept": left - dropped}
        counted.append({"name": rule.name, "reason": rule.reason, "parameters": parameters, **sums})
        left -= dropped
    return {"out": out.name, **totals, "rules": counted, "files": files, "examples": examples}


def as_markdown(report: dict[str, Any]) -> str:
    """Formats the report."""
    rules = []
    for rule in report["rules"]:
        share = f"{rule['dropped'] / rule['seen']:.2%}" if rule["seen"] else "–"
        numbers = [f"{rule['seen']:,}", f"{rule['dropped']:,}", share, f"{rule['kept']:,}"]
        parameters = ", ".join(f"{name} = {value}" for name, value in rule["parameters"].items())
        rules.append([rule["name"], *numbers, rule["reason"], parameters])
    files = []
    for file in report["files"]:
        counts = [file["seen"], *file["dropped"].values(), file["kept"]]
        files.append([f"`{file['source']}`", *(f"{count:,}" for count in counts)])
    examples = []
    for rule, pairs in report["examples"].items():
        for pair in pairs:
            place = f" ({pair['place']})" if pair["place"] else ""
            examples.append(quote_pair(f"{rule}{place}:", pair["source"], pair["target"]))
    parts = [
        f"# Cleaning of {report['out']}",
        f"Of {report['seen']:,} pairs {report['kept']:,} are kept ({report['kept'] / report['seen']:.2%}). "
        f"Normalization changed {report['normalized']:,}.",
        "## Rules, in the order in which they are tried",
        table(("rule", "seen", "dropped", "of seen", "kept", "why", "parameters"), rules),
        "## Files",
        table(("source file", "seen", *report["examples"], "kept"), files),
    ]
    if examples:
        parts += ["## The first pairs dropped", "\n".join(examples)]
    return "\n\n".join(parts) + "\n"


def clean(cleaning: Cleaning) -> dict[str, Any]:
    """Writes the pairs that every rule keeps, in order, and then the report.

    A first pass applies the rules that look at one pair, in all processes, and writes what is left aside; the rules on
    the corpus look at the records of that; a second pass drops their pairs. In memory are a few blocks of lines and the
    records: 16 bytes for each pair left, and some 80 while they are compared, 1 GB for twelve million.

    Returns:
        The numbers of the report.

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
    names = [rule.name for rule in (*rules, *CORPUS_RULES)]
    files = [
        {"source": str(path), "seen": 0, "kept": 0, "normalized": 0, "dropped": dict.fromkeys(names, 0)}
        for path in cleaning.sources
    ]
    examples: dict[str, list[dict[str, str]]] = {name: [] for name in names}
    with partial_folder(cleaning.out) as folder:
        survivors = (folder / "survivors.source", folder / "survivors.target")
        records = _apply_pair_rules(cleaning, rules, files, examples, survivors)
        with write_sides(cleaning.out, cleaning.languages) as sides:
            _apply_corpus_rules(records, files, examples, survivors, sides)
            report = make_report(cleaning.out, (*rules, *CORPUS_RULES), files, examples)
            if not report["kept"]:
                drops = ", ".join(f"{rule['name']} {rule['dropped']}" for rule in report["rules"])
                raise ValueError(f"no pair is left of {report['seen']} ({drops})")
    write_report(cleaning.report, as_markdown(report), report)
    return report


def held_out_lines(prefixes: Sequence[Path], languages: tuple[str, str]) -> tuple[frozenset[str], frozenset[str]]:
    """Normalized lines of each side of held-out sets, as :func:`.fold` has them.

    Raises:
        FileError: a side is missing or damaged, or has a line that is not UTF-8.
    """
    source, target = (
        frozenset(
            fold(normalize(line), language)
            for prefix in prefixes
            for _, line in read_lines(find_file(prefix, language))
        )
        for language in languages
    )
    return source, target


class CleanedBlock(NamedTuple):
    """What is left of a block, and what happened to the rest."""

    file: int  # as the block has it
    seen: int  # how many pairs
    normalized: int  # how many pairs normalization changed
    kept: tuple[bytes, bytes]  # lines of source and target with newlines
    records: np.ndarray  # of the pairs kept (see :data:`.RECORD`)
    dropped: list[tuple[str, int, str, str]]  # name of the rule, number of the line, and both texts


def clean_block(block: Block, rules: Sequence[Rule], languages: tuple[str, str]) -> CleanedBlock:
    """Normalizes the pairs of a block and drops those that a rule drops."""
    source: list[str] = []
    target: list[str] = []
    dropped = []
    normalized = 0
    for line, raw in enumerate(zip(block.source, block.target, strict=True), start=block.first_line):
        texts = [side.decode(errors="replace") for side in raw]
        pair = SentencePair(normalize(texts[0]), normalize(texts[1]), languages)
        normalized += pair.source != texts[0] or pair.target != texts[1]
        for rule in rules:
            if rule(pair):
                dropped.append((rule.name, line, pair.source, pair.target))
                break
        else:
            source.append(pair.source)
            target.append(pair.target)
    records = np.array([pair_record(*pair, languages) for pair in zip(source, target, strict=True)], RECORD)
    lines = ["".join(f"{text}\n" for text in side).encode() for side in (source, target)]
    return CleanedBlock(block.file, len(block.source), normalized, (lines[0], lines[1]), records, dropped)


def _apply_pair_rules(
    cleaning: Cleaning,
    rules: Sequence[Rule],
    files: Sequence[dict[str, Any]],
    examples: dict[str, list[dict[str, str]]],
    paths: tuple[Path, Path],
) -> np.ndarray:
    """Writes both sides of what the pair rules keep, and counts the rest; returns the records."""
    records = [np.empty(0, RECORD)]
    function = partial(clean_block, rules=rules, languages=cleaning.languages)
    blocks = read_blocks(cleaning.sources, cleaning.targets)
    with (
        paths[0].open("wb") as source_file,
        paths[1].open("wb") as target_file,
        tqdm(desc="cleaning", unit=" pairs", mininterval=PAUSE) as progress,
    ):
        for cleaned in ordered_map(function, blocks, cleaning.jobs):
            source_file.write(cleaned.kept[0])
            target_file.write(cleaned.kept[1])
            records.append(cleaned.records)
            file = files[cleaned.file]
            file["seen"] += cleaned.seen
            file["kept"] += len(cleaned.records)
            file["normalized"] += cleaned.normalized
            for rule, line, source, target in cleaned.dropped:
                file["dropped"][rule] += 1
                if len(examples[rule]) < EXAMPLES:
                    examples[rule].append({"place": f"{file['source']}:{line}", "source": source, "target": target})
            progress.update(cleaned.seen)
    if not any(file["seen"] for file in files):
        raise ValueError(f"there is no pair in {', '.join(map(str, cleaning.sources))}")
    return np.concatenate(records)


def _apply_corpus_rules(
    records: np.ndarray,
    files: Sequence[dict[str, Any]],
    examples: dict[str, list[dict[str, str]]],
    survivors: tuple[Path, Path],
    sides: Sequence[IO[bytes]],
) -> None:
    """Writes the pairs that the rules on the corpus keep, and counts the others for their files."""
    verdicts = np.zeros(len(records), np.uint8)  # 0, or the number of a rule, from 1
    for code, rule in enumerate(CORPUS_RULES, start=1):
        left = np.flatnonzero(verdicts == 0)
        verdicts[left[rule(records[left])]] = code
    ends = np.cumsum([file["kept"] for file in files])
    for file, part in zip(files, np.split(verdicts, ends[:-1]), strict=True):
        for code, rule in enumerate(CORPUS_RULES, start=1):
            dropped = int(np.count_nonzero(part == code))
            file["dropped"][rule.name] = dropped
            file["kept"] -= dropped
    for block in read_blocks([survivors[0]], [survivors[1]]):
        part = verdicts[block.first_line - 1 :][: len(block.source)]
        block.write(sides, part == 0)
        for index in np.flatnonzero(part):
            shown = examples[CORPUS_RULES[part[index] - 1].name]
            if len(shown) < EXAMPLES:
                source, target = block.source[index].decode(), block.target[index].decode()
                shown.append({"place": "", "source": source, "target": target})
