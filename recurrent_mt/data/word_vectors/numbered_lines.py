"""Lines of a file with their numbers, which errors name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the number, from 1, and the text of each line, without its end.

    Raises:
        ValueError: naming the file and the line, if it is not UTF-8.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError:
                raise ValueError(f"{path}:{number}: not UTF-8") from None
