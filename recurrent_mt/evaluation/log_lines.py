"""Lines of a log, decoded strictly, and the error that names the place."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path


class LogError(ValueError):
    """A log that cannot be trusted: says the file, the line where there is one, and what is wrong."""

    def __init__(self, path: str | PathLike[str], message: str, *, line: int | None = None) -> None:
        """Puts the place before the message."""
        place = f"{path}, line {line}" if line else f"{path}"
        super().__init__(f"{place}: {message}")


def read_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yields (number from 1, text) for each line.

    Lines end at a line feed alone: translations may contain other characters that Python takes for line ends.

    Raises:
        LogError: at the first line that is not UTF-8.
    """
    with Path(path).open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                yield number, raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                message = f"byte {error.start + 1} is not UTF-8: convert the file, for example with iconv"
                raise LogError(path, message, line=number) from error
