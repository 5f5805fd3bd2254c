"""Reads the lines of parallel files, plain or compressed, in step."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from io import BufferedReader
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, NamedTuple

BLOCK_LINES = 10_000

# GzipFile reads lines in Python, one by one; behind a buffer of this size it is as fast as a plain file.
_BUFFER = 1 << 20
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


class Block(NamedTuple):
    """Consecutive lines of one pair of files, without their newlines.

    Attributes:
        file: the number of the pair of files, from 0.
        first_line: the number of the first line in them, from 1.
        source: lines.
        target: as many lines.
        progress: the share of all the bytes of source files that was read with this block.
    """

    file: int
    first_line: int
    source: list[bytes]
    target: list[bytes]
    progress: float


def language_file(prefix: str | Path, language: str) -> Path:
    """``PREFIX.LANGUAGE``, or the compressed file of that name.

    Raises:
        FileNotFoundError: there is none.
    """
    for ending in ("", ".gz", ".xz"):
        path = Path(f"{prefix}.{language}{ending}")
        if path.is_file():
            return path
    raise FileNotFoundError(f"there is no file {prefix}.{language}, neither plain nor .gz nor .xz")


def read_blocks(sources: Sequence[Path], targets: Sequence[Path], size: int = BLOCK_LINES) -> Iterator[Block]:
    """Reads pairs of files, one after the other.

    A line ends with a newline byte and nothing else: what Unicode calls a line separator stands inside a line.

    Args:
        sources: files of one side; .gz and .xz are decompressed.
        targets: as many of the other.
        size: lines of a block; the last one of a file may be shorter.

    Raises:
        ValueError: other numbers of files or of lines on the two sides; a compressed file that is cut or damaged.
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


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of one file, without their newlines.

    Raises:
        ValueError: a compressed file that is cut or damaged.
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
    except _DAMAGED as error:
        raise ValueError(f"{path} is cut or damaged ({error}): get it again") from error


def _decompressed(path: Path, raw: IO[bytes]) -> IO[bytes]:
    if path.suffix == ".gz":
        # An empty file is no .gz file, and yet gzip reads it without a word.
        if not path.stat().st_size:
            raise EOFError("it is empty")
        return BufferedReader(gzip.GzipFile(fileobj=raw, mode="rb"), _BUFFER)
    if path.suffix == ".xz":
        return BufferedReader(lzma.LZMAFile(raw), _BUFFER)
    return raw
