"""Parallel text as it is read and written here: a sentence a line, line n of one translating line n of the other.

Files that belong together appear together.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from itertools import compress, islice, zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..file_lock import open_locked
from ..text_files import (
    DAMAGE,
    OPENERS,
    FileError,
    check_output_files,
    find_file,
    read_parallel,
    require_damage,
    write_aside,
    write_text,
)

#: Seconds between two looks at how far a long pass has come.
PAUSE = 5


@contextmanager
def partial_folder(prefix: Path) -> Iterator[Path]:
    """A folder ``.PREFIX.partial`` to write in, beside the prefix, empty at first and removed at the end.

    What a killed run left there is removed at the start.

    Raises:
        FileError: if another process writes there.
    """
    folder = prefix.with_name(f".{prefix.name}.partial")

    def open_folder() -> int:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    lock = open_locked(folder, open_folder)
    if lock is None:
        raise FileError(folder, "another process is writing there: wait for that, or choose another --out")
    try:
        for entry in folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def replace_entries(made: Path, folder: Path) -> None:
    """Moves what is in a folder into another one, each in the place of what has its name there."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in sorted(made.iterdir()):
        former = folder / entry.name
        if former.is_dir():
            shutil.rmtree(former)
        entry.replace(former)


def write_report(file: Path, markdown: str, numbers: Mapping[str, Any]) -> None:
    """Writes a report to read, and its numbers beside it, in the file of that name that ends with .json."""
    write_text(file, markdown)
    write_text(file.with_suffix(".json"), json.dumps(numbers, indent=2, ensure_ascii=False) + "\n")


def check_outputs(inputs: Iterable[Path], out: Path, languages: Iterable[str], report: Path) -> None:
    """Refuses names of results, of the report and its numbers as well, that would overwrite an input, or each other.

    Raises:
        ValueError: naming the file.
    """
    sides = [Path(f"{out}.{language}") for language in languages]
    if sides[0] == sides[1]:
        raise ValueError(f"both sides would be {sides[0]}: give two languages")
    if report.suffix == ".json":
        raise ValueError(f"--report {report}: its numbers get that name; give the report another, such as REPORT.md")
    inputs = list(inputs)
    check_output_files(inputs, sides)
    check_output_files([*inputs, *sides], [report, report.with_suffix(".json")], "--report")


def name_sides(prefixes: Iterable[Path], languages: Sequence[str]) -> list[Path]:
    """The files of parallel texts that are named by their prefixes, as far as they are not compressed."""
    return [Path(f"{prefix}.{language}") for prefix in prefixes for language in languages]


#: What some tool or other takes for the end of a line: all of Python's, and the tabulator, which ends columns.
LINE_BREAKS = re.compile("[\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029]+")

BLOCK_LINES = 10_000

# GzipFile reads lines in Python, one by one; behind a buffer of this size it is as fast as a plain file.
_BUFFER = 1 << 20


def one_line(text: str) -> str:
    """The text with its line separators turned into spaces, and nothing else changed but its ends."""
    return LINE_BREAKS.sub(" ", text).strip()


def read_pairs(prefix: str, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The sentence pairs of ``PREFIX.LANGUAGE``, plain or compressed, each on one line whatever reads it next.

    Raises:
        FileError: if a file is missing or damaged, or one has more lines than the other.
    """
    for source, target in read_parallel([find_file(prefix, language) for language in languages]):
        yield one_line(source), one_line(target)


@contextmanager
def write_sides(prefix: str | Path, languages: tuple[str, str]) -> Iterator[list[IO[bytes]]]:
    """Opens ``PREFIX.LANGUAGE`` of both sides, which appear when the block ends without an error."""
    with ExitStack() as stack:
        partials = [stack.enter_context(write_aside(f"{prefix}.{language}")) for language in languages]
        yield [stack.enter_context(partial.open("wb")) for partial in partials]


def write_pairs(pairs: Iterable[tuple[str, str]], folder: Path, languages: tuple[str, str]) -> int:
    """Writes ``FOLDER/text.LANGUAGE``; both files appear when they are whole.

    Returns:
        The number of pairs.

    Raises:
        ValueError: if there is no pair.
    """
    count = 0
    with write_sides(folder / "text", languages) as files:
        for pair in pairs:
            count += 1
            for file, sentence in zip(files, pair):
                file.write(f"{sentence}\n".encode())
        if not count:
            raise ValueError(f"there is no sentence pair for {folder}")
    return count


def limit_lengths(
    prefix: str, out: str, languages: tuple[str, str], *, most: int | None, refuse: bool, same_as: str | None = None
) -> str:
    """Copies the pairs with 1 to `most` tokens on each side, or with any number but 0.

    Args:
        prefix: ``PREFIX.LANG`` is read.
        out: ``OUT.LANG`` is written.
        languages: source and target.
        most: tokens on a side.
        refuse: whether a pair of another length is an error, as in a test set.
        same_as: prefix of the text before it was split into tokens, which must have as many lines: a tool that takes
            another character for the end of a line shifts what follows.

    Returns:
        What was dropped, as a sentence; nothing if nothing was.

    Raises:
        FileError: naming the line that is refused, or files that do not go together.
    """
    names = [f"{text}.{language}" for text in (prefix, same_as) if text for language in languages]
    dropped, first, number = 0, "", 0
    with write_sides(out, languages) as files:
        for number, texts in enumerate(read_parallel(names), 1):
            faults = [find_fault(text, most) for text in texts[:2]]
            if not any(faults):
                for file, text in zip(files, texts):
                    file.write(f"{text}\n".encode())
                continue
            side = 0 if faults[0] else 1
            reason = f"{names[side]} line {number} {faults[side]}"
            if refuse:
                raise ValueError(reason)
            dropped, first = dropped + 1, first or reason
        if dropped == number:
            raise FileError(f"{prefix}.{languages[0]}", "no pair is left")
    return f"Dropped {dropped} of {number} pairs (the first: {first})." if dropped else ""


def find_fault(text: str, most: int | None) -> str:
    """Why a line cannot be used; nothing if it can."""
    count = len(text.split())
    if not count:
        return "has no token"
    return f"has {count} tokens, more than the {most} allowed" if most is not None and count > most else ""


class Block(NamedTuple):
    """Consecutive lines of one pair of files, without their newlines."""

    file: int  # the number of the pair of files, from 0
    first_line: int  # the number of the first line in them, from 1
    source: list[bytes]
    target: list[bytes]

    def write(self, files: Sequence[IO[bytes]], taken: np.ndarray) -> None:
        """Writes the lines of both sides that are taken (lines,) bool."""
        for file, lines in zip(files, (self.source, self.target), strict=True):
            file.writelines(line + b"\n" for line in compress(lines, taken))


def read_blocks(sources: Sequence[Path], targets: Sequence[Path], size: int = BLOCK_LINES) -> Iterator[Block]:
    """Reads pairs of files, one after the other.

    A line ends with a newline byte and nothing else: what Unicode calls a line separator is part of the line.

    Args:
        sources: files of one side; compressed ones are decompressed.
        targets: as many of the other.
        size: lines of a block; the last one of a file may be shorter.

    Raises:
        ValueError: other numbers of files or of lines on the two sides.
        FileError: a compressed file is cut off or damaged.
        FileNotFoundError: a file is missing.
    """
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} source files and {len(targets)} target files: give them in pairs")
    for file, (source_path, target_path) in enumerate(zip(sources, targets, strict=True)):
        with _open(source_path) as source_file, _open(target_path) as target_file:
            source_blocks = _line_blocks(source_path, source_file, size)
            target_blocks = _line_blocks(target_path, target_file, size)
            lines = 0
            for source, target in zip_longest(source_blocks, target_blocks, fillvalue=()):
                if len(source) != len(target):
                    source_lines = lines + len(source) + sum(map(len, source_blocks))
                    target_lines = lines + len(target) + sum(map(len, target_blocks))
                    raise ValueError(
                        f"{source_path} has {source_lines} lines and {target_path} has {target_lines}: "
                        "line n of one must translate line n of the other"
                    )
                yield Block(file, lines + 1, list(source), list(target))
                lines += len(source)


def _open(path: Path) -> IO[bytes]:
    if path.suffix in OPENERS:
        return BufferedReader(OPENERS[path.suffix](path, "rb"), _BUFFER)
    return path.open("rb")


def _line_blocks(path: Path, file: IO[bytes], size: int) -> Iterator[list[bytes]]:
    try:
        while lines := list(islice(file, size)):
            yield [line.removesuffix(b"\n") for line in lines]
    except DAMAGE as error:
        require_damage(error)
        raise FileError(path, f"the file is cut off or damaged ({error}): get it again") from error
