"""Parallel text as it is read and written here: one sentence a line, UTF-8, as many lines on each side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO

from ..ordered_map import ordered_map
from .archives import DAMAGE, OPENERS

#: What some tool or other takes for the end of a line: all of Python's, and the tabulator, which ends columns.
LINE_BREAKS = re.compile("[\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029]+")

#: Lines handed to a processor at a time: enough to outweigh the hand-over, few enough to keep memory small.
_CHUNK = 2000


class TextError(ValueError):
    """Text that cannot be used; the message names the file and the line."""


def one_line(text: str) -> str:
    """The text with its line separators turned into spaces, and nothing else changed but its ends."""
    return LINE_BREAKS.sub(" ", text).strip()


def map_lines(function: Callable[[str], str], lines: Iterable[str], jobs: int) -> Iterator[str]:
    """Applies a function to each line, on several processors, in order and in flat memory."""
    if jobs == 1:
        yield from map(function, lines)
        return
    for chunk in ordered_map(lambda chunk: [function(line) for line in chunk], _chunks(lines), jobs):
        yield from chunk


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(lines)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def find_file(prefix: str, language: str) -> Path:
    """``PREFIX.LANGUAGE``, plain or compressed.

    Raises:
        TextError: if there is none, or more than one.
    """
    names = [Path(f"{prefix}.{language}{ending}") for ending in ("", *OPENERS)]
    found = [name for name in names if name.is_file()]
    if not found:
        raise TextError(f"there is no file {names[0]}, nor with {', '.join(OPENERS)} after it")
    if len(found) > 1:
        raise TextError(f"which one is meant: {' or '.join(map(str, found))}?")
    return found[0]


def read_sentences(path: Path) -> Iterator[str]:
    """The lines of a file, plain or compressed, without their ends.

    Raises:
        TextError: if it is empty, cut off, damaged or not UTF-8.
    """
    opener = OPENERS.get(path.suffix, open)
    number = 0
    with opener(path, "rb") as file:
        try:
            for line in file:
                text = line.decode("utf-8" if number else "utf-8-sig")
                number += 1
                yield one_line(text)
        except UnicodeDecodeError as error:
            raise TextError(
                f"{path} line {number + 1} is not UTF-8: convert the file, for example with iconv"
            ) from error
        except DAMAGE as error:
            raise TextError(f"{path} is cut off or damaged after line {number}: {error}") from error
    if number == 0:
        raise TextError(f"{path} is empty")


def read_pairs(prefix: str, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The sentence pairs of ``PREFIX.LANGUAGE``.

    Raises:
        TextError: if a file is missing or broken, or one has more lines than the other.
    """
    first, second = (find_file(prefix, language) for language in languages)
    for number, (left, right) in enumerate(zip_longest(read_sentences(first), read_sentences(second))):
        if left is None or right is None:
            shorter = first if left is None else second
            raise TextError(
                f"{first} and {second} must have as many lines, line n of one translating line n of the other: "
                f"{shorter} ends after line {number}"
            )
        yield left, right


def write_pairs(pairs: Iterable[tuple[str, str]], folder: Path, languages: tuple[str, str]) -> int:
    """Writes ``FOLDER/text.LANGUAGE``, and the folder appears only when both files are whole.

    Returns:
        The number of pairs.

    Raises:
        TextError: if there is none.
    """
    partial = Path(f"{folder}.partial")
    partial.mkdir(parents=True, exist_ok=True)
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
        raise TextError(f"no sentence pair came for {folder}")
    partial.rename(folder)
    return count
