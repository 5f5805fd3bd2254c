"""Cleans parallel text: normalizes it, drops pairs by rules, and reports what it saw, dropped and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
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
        """Names of the source files in the report: paths within the folder that they and the report lie in.

        So the same text has the same report wherever it is prepared.
        """
        folder = Path(os.path.commonpath([os.path.abspath(path) for path in (*self.sources, self.report)]))
        if folder == Path(folder.anchor):
            return {path: str(path) for path in self.sources}
        return {path: os.path.relpath(path, folder) for path in self.sources}


def start_report(cleaning: Cleaning, rules: Sequence[Rule]) -> dict[str, Any]:
    """The numbers of the report, which is written as JSON and as Markdown; `add_up` fills in the sums at the end."""
    counted = []
    for rule in rules:
        # Of sets of lines, their sizes.
        parameters = {
            name: len(value) if isinstance(value, frozenset) else value for name, value in rule.parameters.items()
        }
        sums = {"seen": 0, "dropped": 0, "kept": 0}
        counted.append({"name": rule.name, "reason": rule.reason, "parameters": parameters, **sums})
    files = []
    for path in cleaning.sources:
        dropped = {rule.name: 0 for rule in rules}
        files.append({"source": cleaning.shown_names[path], "seen": 0, "kept": 0, "normalized": 0, "dropped": dropped})
    return {
        "out": cleaning.out.name,
        "seen": 0,
        "kept": 0,
        "normalized": 0,
        "rules": counted,
        "files": files,
        "examples": {rule.name: [] for rule in rules},
    }


def add_up(report: dict[str, Any]) -> None:
    """Fills in the sums over files, and how many pairs came as far as each rule."""
    for name in ("seen", "kept", "normalized"):
        report[name] = sum(file[name] for file in report["files"])
    left = report["seen"]
    for rule in report["rules"]:
        rule["seen"] = left
        rule["dropped"] = sum(file["dropped"][rule["name"]] for file in report["files"])
        left -= rule["dropped"]
        rule["kept"] = left


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
    """Writes the pairs that every rule keeps, in order, and the report; all four files appear together.

    A first pass applies the rules that look at one pair, in all processes, and writes what is left aside with a record
    of 16 bytes a pair; the rules on the corpus look at these; a second pass drops their pairs. In memory are a few
    blocks of lines, the records of half a million pairs, and one byte for each pair left.

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
    report = start_report(cleaning, (*rules, *CORPUS_RULES))
    with partial_folder(cleaning.out) as folder:
        survivors = (folder / "survivors.source", folder / "survivors.target")
        _apply_pair_rules(cleaning, rules, report, (*survivors, folder / "records"))
        verdicts = np.zeros(sum(file["kept"] for file in report["files"]), np.uint8)
        if len(verdicts):
            for code, rule in enumerate(CORPUS_RULES, start=1):
                rule(folder / "records", verdicts, code)
        written = _apply_verdicts(cleaning, survivors, verdicts, report)
        add_up(report)
        if not report["kept"]:
            drops = ", ".join(f"{rule['name']} {rule['dropped']}" for rule in report["rules"])
            raise ValueError(f"no pair is left of {report['seen']} ({drops})")
        publish_corpus(
            dict(zip(cleaning.languages, written, strict=True)),
            cleaning.out,
            cleaning.report,
            markdown=as_markdown(report),
            numbers=report,
        )
    return report


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
    kept = (lines[0], lines[1], records.tobytes())
    return CleanedBlock(block.file, block.progress, len(block.source), normalized, kept, dropped)


def _apply_pair_rules(cleaning: Cleaning, rules: Sequence[Rule], report: dict[str, Any], paths: Sequence[Path]) -> None:
    """Writes what the pair rules keep: source, target and records."""
    progress = ProgressLine("cleaning")
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        function = partial(clean_block, rules=rules, languages=cleaning.languages)
        for cleaned in ordered_map(function, read_blocks(cleaning.sources, cleaning.targets), cleaning.jobs):
            for file, content in zip(files, cleaned.kept, strict=True):
                file.write(content)
            _count(cleaned, cleaning, report)
            progress.update(cleaned.seen, cleaned.progress)
    progress.finish()
    if not any(file["seen"] for file in report["files"]):
        raise ValueError(f"there is no pair in {', '.join(map(str, cleaning.sources))}")


def _count(cleaned: CleanedBlock, cleaning: Cleaning, report: dict[str, Any]) -> None:
    file = report["files"][cleaned.file]
    file["seen"] += cleaned.seen
    file["kept"] += cleaned.seen - len(cleaned.dropped)
    file["normalized"] += cleaned.normalized
    for rule, line, source, target in cleaned.dropped:
        file["dropped"][rule] += 1
        if len(report["examples"][rule]) < cleaning.examples:
            report["examples"][rule].append({"place": f"{file['source']}:{line}", "source": source, "target": target})


def _apply_verdicts(
    cleaning: Cleaning, survivors: tuple[Path, Path], verdicts: np.ndarray, report: dict[str, Any]
) -> list[Path]:
    """Writes the pairs whose verdict is 0, and counts the others for their files."""
    ends = np.cumsum([file["kept"] for file in report["files"]])
    for file, part in zip(report["files"], np.split(verdicts, ends[:-1]), strict=True):
        # np.bincount would make eight bytes of each.
        for code, rule in enumerate(CORPUS_RULES, start=1):
            dropped = int(np.count_nonzero(part == code))
            file["dropped"][rule.name] = dropped
            file["kept"] -= dropped
    written = [path.with_suffix(f"{path.suffix}.kept") for path in survivors]
    first = 0
    with written[0].open("wb") as source_file, written[1].open("wb") as target_file:
        for block in read_blocks([survivors[0]], [survivors[1]]):
            part = verdicts[first : first + len(block.source)]
            first += len(part)
            block.write((source_file, target_file), part == 0)
            for index in np.flatnonzero(part):
                examples = report["examples"][CORPUS_RULES[part[index] - 1].name]
                if len(examples) < cleaning.examples:
                    source, target = block.source[index].decode(), block.target[index].decode()
                    examples.append({"place": "", "source": source, "target": target})
    return written
