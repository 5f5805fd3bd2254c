"""Text files of one sentence a line: sources, references, and translations by any program."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from .log_lines import LogError, read_lines

BYTE_ORDER_MARK = "\ufeff"


def read_sentences(path: str | PathLike[str]) -> list[str]:
    """All lines; empty ones are sentences too.

    Raises:
        LogError: if the file is missing or has no line, if it begins with a byte order mark, and at the first line
            that is not UTF-8.
    """
    if not Path(path).is_file():
        raise LogError(path, "there is no such file")
    sentences = [text for _, text in read_lines(path)]
    if not sentences:
        raise LogError(path, "there are no sentences")
    if sentences[0].startswith(BYTE_ORDER_MARK):
        raise LogError(path, "begins with a byte order mark, which would count as text: save without it", line=1)
    return sentences


def require_same_count(
    path: str | PathLike[str], sentences: Sequence[object], other: str | PathLike[str], others: Sequence[object]
) -> None:
    """Raises LogError where two files that belong together differ in length: line n of one is line n of the other."""
    if len(sentences) != len(others):
        raise LogError(path, f"{len(sentences)} lines, but {other} has {len(others)}: they must be parallel")
