"""A text file that is written over hours, and continued where its writer was killed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path

from .file_lock import open_locked
from .text_files import FileError, write_text


@dataclass(frozen=True)
class Progress:
    """How far a file has come."""

    lines: int = 0  # of the input that are done
    digest: str = ""  # of these lines
    size: int = 0  # bytes that were written for them
    #: what decides the output besides the input, name to value
    made_with: Mapping[str, str] = field(default_factory=dict)


def working_files(path: str | PathLike[str]) -> tuple[Path, Path]:
    """Where a file is until it is whole, and what says how far it has come."""
    path = Path(os.path.realpath(path))
    return path.with_name(f"{path.name}.partial"), path.with_name(f"{path.name}.partial.json")


class ResumableFile:
    """Text that is written chunk by chunk to ``FILE.partial``, which takes the name FILE when everything is in it.

    After each chunk, ``FILE.partial.json`` says how far the text has come, and what it is made with; what a killed
    writer has left behind that is cut off.
    """

    def __init__(self, path: str | PathLike[str], made_with: Mapping[str, str]) -> None:
        """Opens what is there, or begins.

        Raises:
            FileError: if another process writes it, it was begun with something else, or the name is that of something
                else than a file.
        """
        # A link stays one.
        self.path = Path(os.path.realpath(path))
        if self.path.exists() and not self.path.is_file():
            raise FileError(path, "it is no file: give the name of one, which could be continued")
        self.partial, self.record = working_files(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        # What a killed writer has started may go on for a while.
        lock = open_locked(self.partial, lambda: os.open(self.partial, flags, 0o666), inherited=False)
        if lock is None:
            raise FileError(self.partial, "another process is writing it: wait for that, or end it")
        self._file = os.fdopen(lock, "ab")
        try:
            self.progress = self._read_progress(dict(made_with))
        except FileError:
            self._file.close()
            raise
        self._file.truncate(self.progress.size)

    def _read_progress(self, made_with: dict[str, str]) -> Progress:
        begun = Progress(made_with=made_with)
        if not self.record.is_file():
            return begun
        try:
            progress = Progress(**json.loads(self.record.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise self._refuse(f"it is damaged ({error})") from error
        here = self.partial.stat().st_size
        if not here and self.path.is_file() and self.path.stat().st_size == progress.size:
            # The text had its name already when its writer was killed.
            self.record.unlink()
            return begun
        if progress.size > here:
            raise self._refuse(f"{self.partial.name} is shorter than it says")
        found = progress.made_with
        changed = [name for name in sorted({*found, *made_with}) if found.get(name) != made_with.get(name)]
        if progress.lines and changed:
            raise self._refuse(f"{progress.lines:,} lines were made with another {' and '.join(changed)}")
        return progress if progress.lines else begun

    def _refuse(self, reason: str) -> FileError:
        return FileError(
            self.record, f"{reason}: to start anew, remove it; to resume, call with what it was begun with"
        )

    def require_digest(self, digest: str, name: str) -> None:
        """Checks that the lines that are done are those of the input.

        Raises:
            FileError: if they are not.
        """
        if digest != self.progress.digest:
            raise self._refuse(f"the first {self.progress.lines:,} lines of {name} are not those that it was made of")

    def append(self, text: str, *, lines: int, digest: str) -> None:
        """Writes a chunk.

        Args:
            text: of the chunk.
            lines: of the input that are done with it, from the first.
            digest: of these.
        """
        encoded = text.encode("utf-8")
        self._file.write(encoded)
        self._file.flush()
        # The record must not reach the disk before the text.
        os.fsync(self._file.fileno())
        size = self.progress.size + len(encoded)
        self.progress = replace(self.progress, lines=lines, digest=digest, size=size)
        write_text(self.record, json.dumps(asdict(self.progress), indent=1) + "\n")

    def finish(self) -> None:
        """Gives the file its name."""
        self.partial.replace(self.path)
        self.record.unlink(missing_ok=True)

    def close(self) -> None:
        """Lets another process write it."""
        self._file.close()
