"""Parallel text as it is read and written here: a sentence a line, line n of one side translating line n of the other.

What comes from elsewhere is read strictly, as text (:func:`read_pairs`); what is to be cleaned is read as bytes, block
by block and in step (:func:`read_blocks`). Either may be compressed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from io import BufferedReader
from itertools import compress, islice, zip_longest
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from ..text_files import DAMAGE, OPENERS, FileError, find_file, read_lines
from .partial_files import partial_folder

#: What some tool or other takes for the end of a line: all of Python's, and the tabulator, which ends columns.
LINE_BREAKS = re.compile("[\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029]+")

BLOCK_LINES = 10_000

# GzipFile reads lines in Python, one by one; behind a buffer of this size it is as fast as a plain file.
_BUFFER = 1 << 20


def one_line(text: str) -> str:
    """The text with its line separators turned into spaces, and nothing else changed but its ends."""
    return LINE_BREAKS.sub(" ", text).strip()


def stream_sentences(path: Path) -> Iterator[str]:
    """The lines of a file, plain or compressed, each on one line whatever reads it next (see :func:`one_line`).

    Raises:
        FileError: if it is empty, cut off, damaged or not UTF-8.
    """
    empty = True
    for _, text in read_lines(path):
        empty = False
        yield one_line(text)
    if empty:
        raise FileError(path, "the file is empty")


def read_pairs(prefix: str, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The sentence pairs of ``PREFIX.LANGUAGE``.

    Raises:
        FileError: if a file is missing or damaged, or one has more lines than the other.
    """
    first, second = (find_file(prefix, language) for language in languages)
    for number, (left, right) in enumerate(zip_longest(stream_sentences(first), stream_sentences(second))):
        if left is None or right is None:
            shorter, longer = (first, second) if left is None else (second, first)
            raise FileError(shorter, f"it ends after line {number} and {longer} goes on: they must be parallel")
        yield left, right


def require_room(folder: Path) -> None:
    """Refuses a folder that something is in.

    Raises:
        FileError: naming it.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileError(folder, "it is there already, and nothing is replaced: remove it, or choose another --out")


def write_pairs(pairs: Iterable[tuple[str, str]], folder: Path, languages: tuple[str, str]) -> int:
    """Writes ``FOLDER/text.LANGUAGE``, and the folder appears only when both files are whole.

    Returns:
        The number of pairs.

    Raises:
        FileError: if there is something in the folder.
        ValueError: if there is no pair.
    """
    require_room(folder)
    with partial_folder(folder) as partial:
        count = 0
        with ExitStack() as stack:
            files: list[IO[str]] = [
                stack.enter_context((partial / f"text.{language}").open("w", encoding="utf-8", newline="\n"))
                for language in languages
            ]
            for pair in pairs:
                count += 1
                for file, sentence in zip(files, pair):
                    file.write(sentence + "\n")
        if not count:
            raise ValueError(f"there is no sentence pair for {folder}")
        partial.rename(folder)
    return count


class Block(NamedTuple):
    """Consecutive lines of one pair of files, without their newlines."""

    file: int  # the number of the pair of files, from 0
    first_line: int  # the number of the first line in them, from 1
    source: list[bytes]
    target: list[bytes]
    progress: float  # the share of all the bytes of source files that was read with this block

    def write(self, files: tuple[IO[bytes], IO[bytes]], taken: np.ndarray) -> None:
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
    total = sum(path.stat().st_size for path in sources) or 1
    before = 0
    for file, (source_path, target_path) in enumerate(zip(sources, targets, strict=True)):
        with source_path.open("rb") as raw, target_path.open("rb") as raw_target:
            source_blocks = _line_blocks(source_path, raw, size)
            target_blocks = _line_blocks(target_path, raw_target, size)
            lines = 0
            for source, target in zip_longest(source_blocks, target_blocks, fillvalue=()):
                if len(source) != len(target):
                    source_lines = lines + len(source) + sum(map(len, source_blocks))
                    target_lines = lines + len(target) + sum(map(len, target_blocks))
                    raise ValueError(
                        f"{source_path} has {source_lines} lines and {target_path} has {target_lines}: "
                        "line n of one must translate line n of the other"
                    )
                yield Block(file, lines + 1, list(source), list(target), (before + raw.tell()) / total)
                lines += len(source)
        before += source_path.stat().st_size


def read_raw_lines(path: Path) -> Iterator[bytes]:
    """The lines of one file, without their newlines.

    Raises:
        FileError: a compressed file is cut off or damaged.
        FileNotFoundError: the file is missing.
    """
    with path.open("rb") as raw:
        for block in _line_blocks(path, raw, BLOCK_LINES):
            yield from block


def _line_blocks(path: Path, raw: IO[bytes], size: int) -> Iterator[list[bytes]]:
    try:
        stream = _decompressed(path, raw)
        while lines := list(islice(stream, size)):
            yield [line.removesuffix(b"\n") for line in lines]
    except DAMAGE as error:
        raise FileError(path, f"the file is cut off or damaged ({error}): get it again") from error


def _decompressed(path: Path, raw: IO[bytes]) -> IO[bytes]:
    if path.suffix not in OPENERS:
        return raw
    # An empty file is no .gz file, and yet gzip reads it without a word.
    if not path.stat().st_size:
        raise EOFError("it is empty")
    return BufferedReader(OPENERS[path.suffix](raw, "rb"), _BUFFER)
