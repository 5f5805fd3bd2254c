"""Parallel text: checked before anything is made of it, and limited to sentences that models take."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from ..text_files import FileError, read_lines, write_aside

#: fairseq's models with positions take no longer sentences; the end of sentence is one token.
POSITION_LIMIT = 1023


def check_pair(prefix: str, languages: tuple[str, str], *, may_have_empty_lines: bool) -> list[str]:
    """Checks that both sides exist, are UTF-8, and have the same number of lines.

    Pairs of a test set are never dropped: BLEU on fewer sentences is a different number.

    Returns:
        What should be known about empty lines.

    Raises:
        FileError: naming the file, and the line where there is one.
    """
    counts, notes = [], []
    for language in languages:
        file = Path(f"{prefix}.{language}")
        if not file.is_file():
            raise FileError(file, "there is no such file")
        count, empty = 0, []
        for count, line in read_lines(file):
            if not line.split():
                empty.append(count)
        if not count:
            raise FileError(file, "it is empty")
        if empty:
            found = f"{len(empty)} empty line(s), the first is line {empty[0]}"
            if not may_have_empty_lines:
                raise FileError(file, f"{found}: remove or fill the pair")
            notes.append(f"{file} has {found}: these pairs are dropped.")
        counts.append(count)
    if counts[0] != counts[1]:
        names = [f"{prefix}.{language}" for language in languages]
        raise FileError(
            names[0],
            f"it has {counts[0]} lines and {names[1]} has {counts[1]}: line n of one must translate line n of the "
            "other",
        )
    return notes


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
    dropped, first, number = 0, "", 0
    with ExitStack() as stack:
        partials = [stack.enter_context(write_aside(f"{out}.{language}")) for language in languages]
        files = [stack.enter_context(partial.open("w", encoding="utf-8", newline="\n")) for partial in partials]
        for number, pair in enumerate(read_pairs(prefix, languages, same_as), 1):
            reason = next(find_faults(pair, prefix, languages, number, most), None)
            if reason is None:
                for file, text in zip(files, pair, strict=True):
                    file.write(f"{text}\n")
            elif refuse:
                raise ValueError(reason)
            else:
                dropped, first = dropped + 1, first or reason
        if dropped == number:
            raise FileError(f"{prefix}.{languages[0]}", "no pair is left")
    return f"Dropped {dropped} of {number} pairs (the first: {first})." if dropped else ""


def read_pairs(prefix: str, languages: tuple[str, str], same_as: str | None) -> Iterator[tuple[str, str]]:
    """The pairs of a text, line by line.

    Raises:
        FileError: at the end, if files do not have as many lines as each other and as the text before.
    """
    names = [f"{place}.{language}" for place in (prefix, same_as) if place is not None for language in languages]
    for number, texts in enumerate(zip_longest(*map(read_lines, names)), 1):
        for name, text in zip(names, texts, strict=True):
            if text is None:
                raise FileError(
                    name,
                    f"it ends after line {number - 1}, another of {', '.join(names)} does not: does a line contain "
                    "another line separator?",
                )
        yield texts[0][1], texts[1][1]


def find_faults(
    pair: tuple[str, str], prefix: str, languages: tuple[str, str], number: int, most: int | None
) -> Iterator[str]:
    """Finds the reasons why a pair cannot be used."""
    for text, language in zip(pair, languages, strict=True):
        count = len(text.split())
        if not count:
            yield f"{prefix}.{language} line {number} has no token"
        elif most is not None and count > most:
            yield f"{prefix}.{language} line {number} has {count} tokens, more than the {most} allowed"
