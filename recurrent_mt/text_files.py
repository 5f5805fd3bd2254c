"""Text files, read strictly and written whole or not at all: the one place for both."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EISDIR, ENOTDIR
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any

#: What opens a compressed file, by the end of its name.
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
#: What these raise on a file that is cut off or damaged; an OSError of theirs has no number, as those of the system do.
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FileError(ValueError):
    """A file that cannot be trusted: says which, the line if there is one, what is wrong, and what to do."""

    def __init__(self, path: str | PathLike[str], message: str, line: int | None = None) -> None:
        # All of them, so that it can be sent to another process.
        super().__init__(path, message, line)

    def __str__(self) -> str:
        path, message, line = self.args
        return f"{path}, line {line}: {message}" if line else f"{path}: {message}"


def checksum(file: Path) -> str:
    """Tells one text from another; not made to withstand an attack.

    Raises:
        FileError: if there is no such file.
    """
    if not file.is_file():
        raise FileError(file, "there is no such file")
    value = 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            value = zlib.crc32(block, value)
    return f"{value:08x}"


def require_unchanged(file: Path, expected: str) -> None:
    """Checks that a text, now that it was read, is still the one that results are named after.

    Raises:
        FileError: if its checksum is not the expected one.
    """
    if checksum(file) != expected:
        raise FileError(file, "it has changed since the experiment began: start the experiment again")


def find_file(prefix: str | PathLike[str], language: str) -> Path:
    """``PREFIX.LANGUAGE``, plain or compressed.

    Raises:
        FileError: if there is none, or more than one.
    """
    names = [Path(f"{prefix}.{language}{ending}") for ending in ("", *OPENERS)]
    found = [name for name in names if name.is_file()]
    if not found:
        raise FileError(names[0], f"there is no such file, nor one with {', '.join(OPENERS)} after its name")
    if len(found) > 1:
        raise FileError(
            found[0], f"{' and '.join(path.name for path in found[1:])} is there as well: which one is meant?"
        )
    return found[0]


def read_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    r"""Yields (number from 1, text) for each line of a file, plain or compressed (``.gz``, ``.xz``, ``.bz2``).

    A line ends at a line feed (or ``\r\n``) alone: translations may contain other characters that Python takes for
    line ends. A byte order mark at the start is dropped: it is how some editors save UTF-8, and no part of the text.
    A carriage return or a NUL inside a line is a space, so that no tool that reads the text next finds another number
    of lines. `fairseq_compat.repairs.text_lines` does the same for fairseq's own readers.

    Raises:
        FileError: if the file is missing or cut off, and at the first line that is not UTF-8.
    """
    path = Path(path)
    if not path.is_file():
        raise FileError(path, "it is no file: write the text to one" if path.exists() else "there is no such file")
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        yield from decode_lines(path, file)


def read_standard_input() -> Iterator[str]:
    """The lines of standard input as `read_lines` yields them, without numbers: as UTF-8, whatever the locale says.

    On a terminal, a line on standard error says what to do: one would wait for an answer.

    Raises:
        FileError: at the first line that is not UTF-8.
    """
    if sys.stdin.isatty():
        print("Type a sentence, then Enter; Ctrl-D ends.", file=sys.stderr, flush=True)
    return (text for _, text in decode_lines("standard input", sys.stdin.buffer))


def decode_lines(path: str | PathLike[str], lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """What `read_lines` yields, and raises, of lines that end at a line feed; ``path`` is for messages."""
    number = 0
    try:
        for number, raw in enumerate(lines, start=1):
            if number == 1:
                raw = raw.removeprefix(BYTE_ORDER_MARK)
            yield number, raw.rstrip(b"\r\n").replace(b"\r", b" ").replace(b"\0", b" ").decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is not UTF-8: convert the text, for example with iconv"
        raise FileError(path, message, line=number) from error
    except DAMAGE as error:
        require_damage(error)
        raise FileError(path, f"the file is cut off or damaged after this line: {error}", line=number) from error


def require_damage(error: Exception) -> None:
    """Raises one of `DAMAGE` again if the system could not read, which says nothing of what is in the file."""
    if getattr(error, "errno", None) is not None:
        raise error


def read_sentences(path: str | PathLike[str]) -> list[str]:
    """All lines of a file of one sentence a line; empty ones are sentences too. See `read_lines`.

    Raises:
        FileError: as `read_lines`, and if the file has no line.
    """
    return list(stream_sentences(path))


def stream_sentences(path: str | PathLike[str]) -> Iterator[str]:
    """What `read_sentences` returns, and raises, a sentence at a time; the file is opened when the first is taken."""
    empty = True
    for _, text in read_lines(path):
        empty = False
        yield text
    if empty:
        raise FileError(path, "there are no sentences")


def read_parallel(files: Sequence[str | PathLike[str]]) -> Iterator[tuple[str, ...]]:
    """The lines of files of which line n of one is line n of the others; a tuple of one of each.

    Raises:
        FileError: as `read_lines`, if there is no line, and at the end, if a file has fewer than another.
    """
    number = 0
    for number, lines in enumerate(zip_longest(*map(read_lines, files)), start=1):
        if None in lines:
            shorter, longer = files[lines.index(None)], next(file for file, line in zip(files, lines) if line)
            if number == 1:
                raise FileError(shorter, f"it is empty, and {longer} is not")
            message = f"it ends after line {number - 1} and {longer} goes on: they must be parallel"
            raise FileError(shorter, f"{message}; does a line contain another line separator?")
        yield tuple(text for _, text in lines)
    if not number:
        raise FileError(files[0], "there are no sentences")


def require_same_count(
    path: str | PathLike[str], sentences: Sequence[object], other: str | PathLike[str], others: Sequence[object]
) -> None:
    """Raises FileError where two files that belong together differ in length: line n of one is line n of the other."""
    if len(sentences) != len(others):
        raise FileError(path, f"{len(sentences)} lines, but {other} has {len(others)}: they must be parallel")


@contextmanager
def write_aside(path: str | PathLike[str]) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` when the block ends without an error.

    Until then, and if the block fails, ``path`` is what it was. The temporary name contains the process number, so
    that two processes that write the same file do not mix. Folders that are missing are made. A link stays one: the
    file that it names is replaced. What is no file, as /dev/null, is written to itself.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        yield Path(path)
        return
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def check_output_files(
    inputs: Iterable[str | PathLike[str]], outputs: Iterable[str | PathLike[str]], option: str = "--out"
) -> None:
    """Refuses names of results, which the option gives, that would overwrite what they are made of, or are no files.

    For use before the work: `write_aside` would fail after it.

    Raises:
        OSError: if one is a folder, or in something that is a file.
        ValueError: naming the file that would be overwritten.
    """
    read = {os.path.realpath(path) for path in inputs}
    for path in outputs:
        real = Path(os.path.realpath(path))
        if str(real) in read:
            raise ValueError(f"{path} would be overwritten: choose another {option}")
        if real.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        there = next(folder for folder in real.parents if folder.exists())
        if not there.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(path))


def write_text(path: str | PathLike[str], text: str) -> None:
    """Writes a text file in one piece, as `write_aside` does."""
    with write_aside(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def read_layout(file: Path, layout: str, *, what: str, remedy: str) -> dict[str, Any]:
    """A JSON object that says in ``format`` which layout its folder has.

    Args:
        file: to read.
        layout: the one that is known.
        what: the folder is, for people.
        remedy: what to do if it has another.

    Raises:
        FileNotFoundError: if there is no such file.
        FileError: if it is no JSON, or says another layout or none.
    """
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(file, f"this is no manifest of {what}: {error}") from None
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != layout:
        raise FileError(file, f"the format is {found!r}, and {layout!r} is read: {remedy}")
    return manifest


#: In fairseq's dictionaries, it may follow a count: the entry replaces an earlier one of the same word.
OVERWRITE = " #fairseq:overwrite"
#: Entries without a word, which fairseq-preprocess adds to round the size up to a multiple.
PADDING = re.compile(r"madeupword\d{4,}")
COUNT = re.compile(r"[0-9]{1,18}")


def dictionary_folder(data: str | PathLike[str]) -> Path:
    """The part of a folder of binarized data that has the dictionaries: its first shard, if it is in shards."""
    shard = Path(data) / "shard0"
    return shard if shard.is_dir() else Path(data)


def read_dictionary(path: str | PathLike[str]) -> dict[str, int]:
    """The words of a ``dict.LANG.txt`` of fairseq-preprocess and how often each was counted, in the file's order.

    Every entry is a word but the padding (``madeupword0000`` …), whatever its count. fairseq's special symbols are not
    in the file unless the text contained them.

    Raises:
        FileError: if the file is missing, and at the first line that is not a word and a count.
    """
    words = {}
    for number, text in read_lines(path):
        # As fairseq, from the right: what comes before the last space is the word.
        word, _, count = text.removesuffix(OVERWRITE).rpartition(" ")
        if not (word and COUNT.fullmatch(count)):
            message = f"expected a word and its count, as in fairseq's dictionaries, not {text[:80]!r}"
            raise FileError(path, message, line=number)
        if not PADDING.fullmatch(word):
            words[word] = int(count)
    return words
